//! Tickets on a board.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use hooks_points::{
    AfterTicketRevision, AfterTicketRevisionPayload, AutonomyTier, BeforeTicketComplete,
    BeforeTicketCompletePayload,
};
use hooks_runtime::Claim;

use super::{Agent, AgentError, Turn};

/// A piece of work on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// Its id.
    pub id: String,
    /// What has to be true of its completion.
    pub acceptance_criteria: Option<String>,
    /// Whose it is.
    pub assignee: String,
    /// How far the assignee is trusted.
    pub autonomy_tier: AutonomyTier,
    /// How it stands.
    pub status: TicketStatus,
    /// How often it was called complete.
    pub completions: u32,
}

/// How a ticket stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TicketStatus {
    /// Being worked on.
    Open,
    /// Called complete, and turned down.
    NeedsRevision,
    /// Done.
    Done,
}

/// What came of calling a ticket complete.
#[derive(Debug)]
pub(crate) enum Completion {
    Done,
    NeedsRevision(String),
    NoSuchTicket,
}

/// All tickets, by id.
#[derive(Debug)]
pub(crate) struct Board(Mutex<BTreeMap<String, Ticket>>);

impl Board {
    pub(crate) fn new(tickets: Vec<Ticket>) -> Self {
        Self(Mutex::new(tickets.into_iter().map(|ticket| (ticket.id.clone(), ticket)).collect()))
    }

    pub(crate) fn get(&self, id: &str) -> Option<Ticket> {
        self.tickets().get(id).cloned()
    }

    /// Moves the ticket after it was called complete once more.
    fn settle(&self, id: &str, status: TicketStatus) {
        if let Some(ticket) = self.tickets().get_mut(id) {
            ticket.status = status;
            ticket.completions += 1;
        }
    }

    /// The share of an assignee's completions that were accepted.
    fn success_ratio(&self, assignee: &str) -> Option<f64> {
        let tickets = self.tickets();
        let theirs = tickets.values().filter(|ticket| ticket.assignee == assignee);
        let (accepted, all) = theirs.fold((0, 0), |(accepted, all), ticket| {
            let done = u32::from(ticket.status == TicketStatus::Done);
            (accepted + done, all + ticket.completions)
        });
        (all > 0).then(|| f64::from(accepted) / f64::from(all))
    }

    fn tickets(&self) -> MutexGuard<'_, BTreeMap<String, Ticket>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Agent {
    /// Calls a ticket complete. A claim turns it down.
    pub(crate) async fn complete_ticket(
        &self,
        turn: &Turn,
        id: &str,
        summary: &str,
    ) -> Result<Completion, AgentError> {
        let Some(ticket) = self.board.get(id) else { return Ok(Completion::NoSuchTicket) };
        let before = BeforeTicketCompletePayload {
            task_id: ticket.id.clone(),
            summary: summary.to_owned(),
            acceptance_criteria: ticket.acceptance_criteria.clone(),
            autonomy_tier: Some(ticket.autonomy_tier),
        };
        match turn.ask::<BeforeTicketComplete>(id, &before).await? {
            Claim::Unclaimed => {
                self.board.settle(id, TicketStatus::Done);
                turn.note(format!("ticket {id} is done"));
                Ok(Completion::Done)
            }
            Claim::Claimed(rejected) => {
                let reason = rejected.reason.as_str();
                turn.refused(format!("ticket {id}"), reason);
                self.board.settle(id, TicketStatus::NeedsRevision);
                let success_ratio = self.board.success_ratio(&ticket.assignee);
                let revision = AfterTicketRevisionPayload {
                    task_id: ticket.id,
                    summary: summary.to_owned(),
                    acceptance_criteria: ticket.acceptance_criteria,
                    reason: reason.to_owned(),
                    assignee: ticket.assignee,
                    autonomy_tier: Some(ticket.autonomy_tier),
                    success_ratio,
                };
                turn.notify::<AfterTicketRevision>(id, &revision).await?;
                Ok(Completion::NeedsRevision(reason.to_owned()))
            }
        }
    }
}
