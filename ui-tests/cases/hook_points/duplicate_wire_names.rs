// Gives two points one wire name.
use hooks_runtime::hook_points;

hook_points! {
    pub void SessionStart { session_id: String }

    #[hook(name = "session_start")]
    pub void Started { platform: String }

    pub void HTTPServer { port: u16 }
    pub void HttpServer { port: u16 }
}

fn main() {}
