'use strict';
(() => {
  // Texts of handlers and operators only ever become text: no element is made from them.
  const $ = (id) => document.getElementById(id);
  // What is not seen, or turns the direction of what is beside it, is written out.
  const plain = (text) => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu,
    (it) => '\n\t\u200d'.includes(it) ? it : `\\u{${it.codePointAt(0).toString(16)}}`);
  const h = (tag, props, ...children) => {
    const element = document.createElement(tag);
    for (const [name, value] of Object.entries(props ?? {})) {
      if (name === 'textContent' || name === 'title') element[name] = plain(value);
      else if (name in element && name !== 'list') element[name] = value;
      else element.setAttribute(name, value);
    }
    element.append(...children.filter((it) => it !== null && it !== undefined && it !== '').map((it) => typeof it === 'string' ? plain(it) : it));
    return element;
  };
  const say = (element, said) => {
    const text = plain(said);
    if (element.textContent !== text) element.textContent = text;
  };
  const plural = (n, one, many) => `${n.toLocaleString('en')} ${n === 1 ? one : many ?? `${one}s`}`;
  const duration = (ns) => {
    if (ns === null || ns === undefined) return '';
    if (ns < 1e3) return `${ns} ns`;
    const [value, unit] = ns < 1e6 ? [ns / 1e3, 'µs'] : ns < 1e9 ? [ns / 1e6, 'ms'] : [ns / 1e9, 's'];
    return `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`;
  };
  const left = (ns) => {
    const seconds = Math.ceil(ns / 1e9);
    if (seconds < 90) return `${seconds} s`;
    return seconds < 5400 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3600)} h`;
  };
  const clock = (ms) => {
    const at = new Date(ms);
    const two = (n) => String(n).padStart(2, '0');
    return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}.${String(at.getMilliseconds()).padStart(3, '0')}`;
  };
  const SKIPS = { scope: 'its plugin was not in scope', target: 'bound to another target', unregistered: 'unregistered', condition: 'its condition was not met', once: 'called once already', disabled: 'disabled', sampled_out: 'left out by its sample' };
  const skips = (counts) => Object.entries(counts).map(([word, n]) => `${plural(n, 'time')} ${SKIPS[word] ?? word.replaceAll('_', ' ')}`).join(', ');
  const words = (counts) => Object.entries(counts).map(([word, n]) => `${n} ${word.replaceAll('_', ' ')}`).join(', ');
  const short = (address, point) => address.startsWith(`${point}:`) ? address.slice(point.length + 1) : address;

  const base = location.pathname.replace(/\/?$/, '/');
  $('schema').href = `${base}api/schema`;

  // The token is behind the `#`, which no browser sends, and leaves the address bar at once.
  const KEY = `hooks-inspect ${base}`;
  const given = new URLSearchParams(location.hash.slice(1).replaceAll('+', '%2B')).get('token');
  if (given) sessionStorage.setItem(KEY, given);
  if (location.hash.startsWith('#token=')) history.replaceState(null, '', location.pathname + location.search);
  const token = () => sessionStorage.getItem(KEY);

  let state = null;
  const canChange = () => Boolean(state?.writable && token());

  const ask = async (path, method = 'GET', body = undefined) => {
    const changes = method !== 'GET';
    const answer = await fetch(base + path, {
      method,
      headers: changes ? { 'Content-Type': 'application/json', Authorization: `Bearer ${token() ?? ''}` } : {},
      body: body === undefined ? undefined : JSON.stringify(body),
      cache: 'no-store', credentials: 'omit', redirect: 'error',
    });
    const said = await answer.json();
    if (answer.status === 401) { sessionStorage.removeItem(KEY); showAccess(); }
    if (!answer.ok) throw Object.assign(new Error(said.message), { code: said.error });
    return said;
  };

  // ---- the state, again and again, changed in place
  const link = (live, text) => {
    $('link').className = live === null ? '' : live ? 'live' : 'lost';
    say($('link-text'), text);
  };
  const showAccess = () => {
    const has = canChange();
    $('token-form').hidden = has || !state?.writable;
    say($('access-text'), !state ? '' : has ? 'Settings can be changed here.'
      : state.writable ? 'Read-only without the token of the host.' : 'This page only reads.');
    document.body.classList.toggle('writable', has);
  };
  $('token-form').addEventListener('submit', (event) => {
    event.preventDefault();
    if ($('token').value) sessionStorage.setItem(KEY, $('token').value.trim());
    $('token').value = '';
    showAccess();
    showPoints();
    showSettings();
  });

  let polling = null;
  const poll = async () => {
    clearTimeout(polling);
    const began = performance.now();
    let wait = 2000;
    if (!document.hidden) {
      try {
        const before = state;
        state = await ask('api/state');
        noteFailing(before);
        show();
        wait = Math.max(1000, 5 * (performance.now() - began));
        link(true, 'live');
        say($('version'), `hooks-inspect ${state.version}`);
      } catch (error) {
        link(false, `no answer: ${error.message}`);
      }
    }
    polling = setTimeout(poll, wait);
  };
  document.addEventListener('visibilitychange', () => { if (!document.hidden) poll(); });

  // A handler is failing now if it failed within the last minute that this page looked.
  const failing = new Map();
  const noteFailing = (before) => {
    const now = Date.now();
    const earlier = new Map(before?.handlers.map((it) => [it.address, it.failures]) ?? []);
    for (const it of state.handlers) {
      if (before && it.failures > (earlier.get(it.address) ?? 0)) failing.set(it.address, now);
    }
    for (const it of state.failures) {
      if (it.last_ms > state.at_ms - 60000) failing.set(it.handler, now);
    }
    const here = new Set(state.handlers.map((it) => it.address));
    for (const [address, at] of failing) if (now - at > 60000 || !here.has(address)) failing.delete(address);
  };

  const tile = (id, text, mood) => { say($(id).firstElementChild, text); $(id).className = mood ?? ''; };
  const show = () => {
    say($('title'), state.title);
    document.title = `${state.title} · hooks`;
    showAccess();
    tile('tile-handlers', state.handlers.length.toLocaleString('en'));
    tile('tile-failing', String(failing.size), failing.size ? 'alarm' : 'good');
    const open = state.handlers.filter((it) => it.breaker && it.breaker.state !== 'closed' && !it.breaker.shadow).length;
    tile('tile-breakers', String(open), open ? 'alarm' : 'good');
    const glass = state.settings.filter((it) => it.break_glass).length;
    tile('tile-settings', String(state.settings.length), state.settings.length ? 'notice' : '');
    tile('tile-glass', String(glass), glass ? 'alarm' : 'good');
    showSettings();
    showPoints();
    showFailures();
  };

  // Rows by their keys: those that stay are changed, not made again.
  const keyed = (list, items, key, make, change) => {
    const rows = list.rows ??= new Map();
    const gone = new Set(rows.keys());
    let place = list.firstElementChild;
    for (const item of items) {
      const id = key(item);
      gone.delete(id);
      let row = rows.get(id);
      if (!row) rows.set(id, row = make(item));
      if (row === place) place = place.nextElementSibling;
      else list.insertBefore(row, place);
      change(row, item);
    }
    for (const id of gone) { rows.get(id).remove(); rows.delete(id); }
  };

  // ---- settings
  const byWhom = (it) => `${it.by ? `by ${it.by}` : 'by an unnamed operator'}${it.why ? `: ${it.why}` : ''}`;
  const showSettings = () => {
    $('settings').hidden = !state?.settings.length;
    if (!state) return;
    // Break-glass first: those need a look before all others.
    const settings = [...state.settings].sort((a, b) => b.break_glass - a.break_glass || a.id - b.id);
    keyed($('settings-list'), settings, (it) => it.id, (it) => {
      const clear = h('button', { type: 'button', className: 'clear', textContent: 'Clear' });
      clear.addEventListener('click', async () => {
        clear.disabled = true;
        try { await ask(`api/settings/${it.id}`, 'DELETE'); } catch (error) { link(false, error.message); }
        clear.disabled = false;
        poll();
      });
      clear.setAttribute('aria-label', `Clear setting ${it.id}`);
      return h('li', { className: it.break_glass ? 'glass' : '' },
        it.break_glass ? h('strong', { className: 'bad', textContent: 'break-glass' }) : null,
        h('span', {}, h('b', { textContent: it.value + (it.fail_closed ? ', fail-closed' : '') }), ' of ', h('code', { textContent: it.target })),
        h('span', { textContent: byWhom(it) }), h('span', { className: 'soft until' }), clear);
    }, (row, it) => {
      say(row.querySelector('.until'), `${it.ends_in_ns === null ? 'until it is cleared' : `ends in ${left(it.ends_in_ns)}`}, in force ${plural(it.applied, 'time')}${it.layer === 'file' ? ', from the file' : ''}`);
      row.querySelector('.clear').hidden = !canChange();
    });
  };

  // ---- points and handlers
  const MOST = 200;
  const SMALL = 80;
  let openAll = null;
  const isOpen = () => openAll ?? state.handlers.length <= SMALL;
  const wanted = () => $('find').value.trim().toLowerCase();
  $('find').addEventListener('input', () => showPoints());
  $('open-all').addEventListener('click', () => {
    if (!state) return;
    openAll = !isOpen();
    document.querySelectorAll('.point').forEach((it) => { it.open = openAll; });
    showPoints();
  });
  const showPoints = () => {
    if (!state) return;
    say($('open-all'), isOpen() ? 'Close all' : 'Open all');
    const find = wanted();
    const handlers = new Map();
    for (const it of state.handlers) {
      if (!handlers.has(it.point)) handlers.set(it.point, []);
      handlers.get(it.point).push(it);
    }
    const settings = new Map(state.settings.map((it) => [it.id, it]));
    const matches = (point) => !find || point.name.toLowerCase().includes(find)
      || (handlers.get(point.name) ?? []).some((it) => it.address.toLowerCase().includes(find));
    const points = state.points.filter(matches);
    $('no-points').hidden = points.length > 0;
    const flows = new Set(state.points.map((it) => it.flow));
    const groups = state.groups.map((name) => {
      const of = points.filter((it) => it.group === name);
      const busy = of.filter((it) => handlers.has(it.name));
      return { name, busy, bare: of.filter((it) => !handlers.has(it.name) && !flows.has(it.name)), all: of.length };
    }).filter((it) => it.all);
    keyed($('groups'), groups, (it) => it.name, ({ name }) => h('details', { className: 'group', open: true },
      h('summary', {}, `${name} `, h('span', { className: 'soft' })), h('div', { className: 'list' }),
      h('details', { className: 'rest' }, h('summary', {}), h('div', { className: 'list' }))),
    (row, group) => {
      const count = group.busy.reduce((sum, it) => sum + handlers.get(it.name).length, 0);
      say(row.querySelector('.soft'), `${plural(group.busy.length + group.bare.length, 'point')}, ${plural(count, 'handler')}`);
      if (!row.open) return;
      keyed(row.children[1], group.busy, (it) => it.name, makePoint,
        (element, point) => changePoint(element, point, handlers.get(point.name), settings, find));
      const rest = row.querySelector('.rest');
      rest.hidden = !group.bare.length;
      say(rest.firstElementChild, `${plural(group.bare.length, 'point')} without handlers`);
      if (rest.open) {
        keyed(rest.lastElementChild, group.bare, (it) => it.name, (it) => h('div', {},
          h('div', { className: 'bare' }, pointName(it), h('span', { className: `model ${it.model}`, textContent: it.model }), h('span', { className: 'numbers' })),
          it.doc ? h('p', { className: 'doc', textContent: it.doc }) : null),
        (element, it) => say(element.querySelector('.numbers'), it.fired === false ? 'never fired' : 'fired'));
      }
    });
  };
  // A group or point that is opened has its rows at once.
  $('groups').addEventListener('toggle', () => showPoints(), true);

  const pointName = (it) => h('span', { className: 'point-name', textContent: it.name });
  const makePoint = (point) => {
    const list = h('ol', { className: 'handlers' });
    return h('details', { className: 'point', open: isOpen() },
      h('summary', {}, pointName(point), h('span', { className: `model ${point.model}`, textContent: point.model }),
        h('span', { className: 'tags' }), h('span', { className: 'numbers' })),
      point.doc ? h('p', { className: 'doc', textContent: point.doc }) : null,
      point.deprecated !== null ? h('p', { className: 'doc', textContent: `deprecated: ${point.deprecated}` }) : null,
      list, h('button', { type: 'button', className: 'more', hidden: true }));
  };
  const changePoint = (element, point, all, settings, find) => {
    const failed = all.reduce((sum, it) => sum + it.failures, 0);
    const numbers = element.querySelector('.numbers');
    const calls = all.reduce((sum, it) => sum + it.calls, 0);
    const text = `${plural(all.length, 'handler')}, ${point.fired === false ? 'never fired' : plural(calls, 'call')}`;
    if (numbers.said !== text + failed) {
      numbers.said = text + failed;
      numbers.replaceChildren(text, failed ? h('span', { className: 'failed', textContent: `, ${failed.toLocaleString('en')} failed` }) : '');
    }
    const off = all.filter((it) => it.settings.length).length;
    const tags = element.querySelector('.tags');
    if (tags.off !== off) {
      tags.off = off;
      tags.replaceChildren(...(off ? [h('span', { className: 'tag set', textContent: `${off} changed` })] : []));
    }
    if (!element.open) return;
    const inPoint = find && !point.name.toLowerCase().includes(find)
      ? all.filter((it) => it.address.toLowerCase().includes(find)) : all;
    const most = element.most ?? MOST;
    const list = element.querySelector('.handlers');
    keyed(list, inPoint.slice(0, most), (it) => it.address, makeHandler, (row, it) => changeHandler(row, it, all.indexOf(it) + 1, settings));
    const more = element.querySelector('.more');
    more.hidden = inPoint.length <= most;
    say(more, `Show ${Math.min(MOST, inPoint.length - most)} more of ${inPoint.length}`);
    more.onclick = () => { element.most = most + MOST; showPoints(); };
  };
  const makeHandler = (it) => {
    const name = h('button', { type: 'button', className: 'handler-name', textContent: short(it.address, it.point), title: 'Settings, place and failures' });
    const change = h('button', { type: 'button', className: 'change', textContent: 'Change', hidden: true });
    name.addEventListener('click', () => showDetails(it.address));
    change.addEventListener('click', () => openChange(it.address));
    change.setAttribute('aria-label', `Change ${it.address}`);
    const row = h('li', {}, h('span', { className: 'place' }), name, h('span', { className: 'tags' }),
      h('span', { className: 'act' }, h('span', { className: 'n calls' }), h('span', { className: 'n failed' }),
        h('span', { className: 'n skips' }), h('span', { className: 'n other' }), h('span', { className: 'n latency' }), change));
    row.dataset.handler = it.address;
    return row;
  };
  const changeHandler = (row, it, place, settings) => {
    say(row.firstElementChild, String(place));
    const cell = (name, text, title) => {
      const element = row.querySelector(`.${name}`);
      say(element, text);
      element.hidden = !text;
      if (title !== undefined && element.title !== title) element.title = title;
    };
    cell('calls', plural(it.calls, 'call'));
    cell('n.failed', it.failures ? `${it.failures.toLocaleString('en')} failed` : '', words(it.failures_by));
    cell('skips', it.skips ? `${it.skips.toLocaleString('en')} skipped` : '', skips(it.skips_by));
    cell('other', [it.in_flight && `${it.in_flight} in flight`, it.overruns && plural(it.overruns, 'overrun')].filter(Boolean).join(', '));
    cell('latency', it.latency?.count ? `p50 ${duration(it.latency.p50_ns)}, p99 ${duration(it.latency.p99_ns)}` : '', 'median and 99th percentile of the time of its calls');
    row.querySelector('.change').hidden = !canChange();
    const tags = [];
    if (it.guard) tags.push(['gate', 'guard']);
    if (it.on_failure === 'closed') tags.push(['gate', 'fail-closed']);
    if (it.conditional) tags.push(['', 'conditional']);
    if (it.once) tags.push(['', 'once']);
    if (it.breaker && it.breaker.state !== 'closed') tags.push(['open', `breaker ${it.breaker.state.replace('_', '-')}${it.breaker.shadow ? ', only counted' : ''}`]);
    else if (it.breaker) tags.push(['', 'breaker closed']);
    const shadow = words(it.shadow);
    if (shadow) tags.push(['', `in shadow: ${shadow}`]);
    for (const id of it.settings) {
      const setting = settings.get(id);
      if (setting) tags.push(['set', `${setting.break_glass ? 'break-glass: ' : ''}${setting.value}${setting.by ? ` by ${setting.by}` : ''}`]);
    }
    const element = row.querySelector('.tags');
    const text = JSON.stringify(tags);
    if (element.said !== text) {
      element.said = text;
      element.replaceChildren(...tags.map(([kind, textContent]) => h('span', { className: `tag ${kind}`, textContent })));
    }
  };

  // ---- one handler
  $('details-close').addEventListener('click', () => $('details').close());
  const showDetails = async (address) => {
    say($('details-title'), address);
    $('details-body').replaceChildren(h('p', { className: 'soft', textContent: 'asking …' }));
    while ($('details-close').previousElementSibling) $('details-close').previousElementSibling.remove();
    if (!$('details').open) $('details').showModal();
    let told;
    try {
      told = await ask(`api/explain?target=${encodeURIComponent(address)}`);
    } catch (error) {
      return $('details-body').replaceChildren(h('p', { className: 'bad', textContent: error.message }));
    }
    const it = state.handlers.find((handler) => handler.address === address);
    const facts = [['Place', `${told.place} of ${told.of}: ${told.why_here}`]];
    if (it) {
      facts.push(['Calls', `${plural(it.calls, 'call')}, ${it.in_flight} in flight`]);
      facts.push(['Failures', it.failures ? words(it.failures_by) : 'none']);
      facts.push(['Not called', it.skips ? skips(it.skips_by) : 'never left out by itself']);
      if (it.overruns) facts.push(['Overruns', plural(it.overruns, 'answer') + ' after the time limit']);
      if (it.latency?.count) facts.push(['Latency', `median ${duration(it.latency.p50_ns)}, p99 ${duration(it.latency.p99_ns)}, longest ${duration(it.latency.max_ns)}`]);
      if (it.breaker) facts.push(['Breaker', `${it.breaker.state.replace('_', '-')}, opened ${plural(it.breaker.opened, 'time')}${it.breaker.shadow ? ', only counted' : ''}`]);
      facts.push(['Written at', it.location]);
    }
    const head = h('tr', {}, ...['setting', 'value', 'from', 'by whom and why'].map((textContent) => h('th', { textContent })));
    const rows = told.values.map((value) => h('tr', { className: value.without_effect ? 'without' : '' },
      h('td', { textContent: value.setting.replaceAll('_', ' ') }), h('td', { textContent: value.value }),
      h('td', { textContent: `${value.layer}${value.id ? ` #${value.id}` : ''}${value.break_glass ? ', break-glass' : ''}` }),
      h('td', { textContent: [value.by ?? '', value.why ?? '', value.ends_in_ns === null ? '' : `ends in ${left(value.ends_in_ns)}`,
        value.without_effect ? `without effect: ${value.without_effect}` : ''].filter(Boolean).join('; ') })));
    const failures = state.failures.filter((failure) => failure.handler === address);
    const buttons = [];
    if (canChange()) {
      const change = h('button', { type: 'button', textContent: 'Change …' });
      change.addEventListener('click', () => { $('details').close(); openChange(address); });
      buttons.push(change);
      if (it?.breaker) {
        const reset = h('button', { type: 'button', textContent: 'Reset breaker' });
        reset.addEventListener('click', async () => {
          try { await ask('api/breakers/reset', 'POST', { target: address }); } catch (error) { return $('details-body').append(h('p', { className: 'bad', textContent: error.message })); }
          await poll();
          showDetails(address);
        });
        buttons.push(reset);
      }
    }
    $('details-body').replaceChildren(
      h('dl', {}, ...facts.flatMap(([name, textContent]) => [h('dt', { textContent: name }), h('dd', { textContent })])),
      h('h3', { textContent: 'Settings' }), h('div', { className: 'wide' }, h('table', {}, h('thead', {}, head), h('tbody', {}, ...rows))),
      failures.length ? h('h3', { textContent: 'Last failures' }) : '',
      h('ul', { id: 'details-failures' }, ...failures.map((failure) => h('li', {}, h('span', { className: 'soft', textContent: `${clock(failure.last_ms)} ${failure.cause}, ${plural(failure.count, 'time')} ` }), h('code', { textContent: failure.text })))));
    $('details-close').before(...buttons);
  };

  // ---- a change
  const LOOSENS = ['disable', 'shadow', 'warn', 'sample', 'fail_open'];
  let change = null;
  const openChange = (address) => {
    change = { needsGlass: false, message: '' };
    $('c-target').value = address;
    $('c-by').value = sessionStorage.getItem(`${KEY} by`) ?? '';
    $('c-why').value = '';
    $('c-meant').checked = false;
    say($('c-error'), '');
    shape();
    $('change').showModal();
    $('c-what').focus();
  };
  const shape = () => {
    const what = $('c-what').value;
    for (const field of document.querySelectorAll('#change [data-for]')) field.hidden = field.dataset.for !== what;
    const it = state.handlers.find((handler) => handler.address === $('c-target').value);
    const glass = change.needsGlass || Boolean(it?.gate && LOOSENS.includes(what));
    $('c-glass').hidden = !glass;
    if (glass) {
      const gating = it && state.points.find((point) => point.name === it.point)?.model === 'gating';
      const without = { disable: 'is not called', shadow: 'has no effect', warn: 'only warns', sample: 'is called for some fires only', fail_open: 'may fail without stopping anything' }[what];
      say($('c-meaning'), change.message || (gating
        ? `${it.address} stands at a gate. If it ${without}, what it would have refused passes.`
        : `${it.address} fails closed: the fire is not to go on without it. If it ${without}, the fire goes on all the same.`));
    }
    say($('c-why-label'), glass ? 'Reason, for every report while it holds' : 'Why');
    const forever = $('c-until').querySelector('option[value=""]');
    forever.disabled = forever.hidden = glass;
    if (glass && !$('c-until').value) $('c-until').value = '600';
    $('c-apply').classList.toggle('glass-button', glass);
    say($('c-apply'), glass ? 'Break the glass' : 'Apply');
  };
  const number = (id) => Number($(id).value);
  const asked = () => {
    const what = $('c-what').value;
    switch (what) {
      case 'time_limit': return { time_limit: { ms: number('c-ms') } };
      case 'sample': return { sample: { part: number('c-percent') / 100 } };
      case 'rate_limit': return { rate_limit: { calls: number('c-calls') } };
      case 'breaker': return { breaker: { consecutive: number('c-failures'), open_for_ms: 1000 * number('c-open') } };
      case 'breaker_open': return { force_breaker: { state: 'open' } };
      case 'breaker_closed': return { force_breaker: { state: 'closed' } };
      default: return what;
    }
  };
  for (const id of ['c-what', 'c-target']) $(id).addEventListener('input', () => { change.needsGlass = false; change.message = ''; shape(); });
  $('c-cancel').addEventListener('click', () => $('change').close());
  $('change-form').addEventListener('submit', async (event) => {
    event.preventDefault();
    const glass = !$('c-glass').hidden;
    if (glass && !$('c-meant').checked) {
      say($('c-error'), 'Say that you mean it, or choose another setting.');
      return $('c-meant').focus();
    }
    const until = $('c-until').value;
    $('c-apply').disabled = true;
    try {
      await ask('api/settings', 'POST', {
        target: $('c-target').value, change: asked(), by: $('c-by').value, why: $('c-why').value,
        until_s: until ? Number(until) : null, break_glass: glass,
      });
      sessionStorage.setItem(`${KEY} by`, $('c-by').value);
      $('change').close();
      poll();
    } catch (error) {
      if (error.code === 'needs_break_glass') {
        Object.assign(change, { needsGlass: true, message: error.message.split('. If that is meant')[0] + '.' });
        shape();
        $('c-meant').focus();
      } else {
        say($('c-error'), error.message);
      }
    } finally {
      $('c-apply').disabled = false;
    }
  });

  // ---- failures and the audit
  const showFailures = () => {
    $('no-failures').hidden = state.failures.length > 0;
    keyed($('failures'), state.failures.slice(0, 30), (it) => `${it.handler} ${it.cause} ${it.effect} ${it.text}`, (it) => h('li', {},
      h('code', { textContent: it.handler }), ' ', h('span', { className: 'soft' }), h('span', { className: 'text', textContent: it.text })),
    (row, it) => say(row.querySelector('.soft'), `${it.cause.replaceAll('_', ' ')}, ${{ open: 'the fire went on', closed: 'the fire failed', shadow: 'in shadow' }[it.effect]}, ${plural(it.count, 'time')}, last at ${clock(it.last_ms)}`));
  };
  const audit = async () => {
    if (!document.hidden) {
      try {
        const found = await ask('api/audit');
        const lines = [
          ...found.problems,
          ...found.undeclared.map((it) => `${it} is fired and not declared`),
          ...found.never_called.map((it) => `${it.handler} is never called: ${it.why}`),
          ...(found.never_fired.length ? [`never fired: ${found.never_fired.join(', ')}`] : []),
        ];
        $('no-audit').hidden = lines.length > 0;
        keyed($('audit'), lines.slice(0, 200), (it) => it, (textContent) => h('li', { textContent }), () => {});
      } catch { /* The state says that there is no answer. */ }
    }
    setTimeout(audit, 5000);
  };

  // ---- the timeline
  const KEPT = 1000;
  const SHOWN = 200;
  let fires = [];
  let waiting = [];
  let paused = false;
  let missed = 0;
  let drawn = true;
  let closed = '';
  const seconds = [];
  const count = (n) => {
    const now = Math.floor(Date.now() / 1000);
    if (seconds.at(-1)?.[0] === now) seconds.at(-1)[1] += n; else seconds.push([now, n]);
    while (seconds[0]?.[0] < now - 10) seconds.shift();
  };
  const since = Date.now();
  setInterval(() => {
    const now = Math.floor(Date.now() / 1000);
    const window = Math.max(1, Math.min(10, (Date.now() - since) / 1000));
    const sum = seconds.filter(([at]) => at >= now - 10).reduce((all, [, n]) => all + n, 0);
    const rate = sum / window;
    tile('tile-rate', rate >= 10 ? Math.round(rate).toLocaleString('en') : rate.toFixed(1));
  }, 1000);

  const source = new EventSource(`${base}api/fires`);
  source.addEventListener('fires', (event) => {
    const batch = JSON.parse(event.data);
    count(batch.fires.length + batch.missed);
    missed += batch.missed;
    const into = paused ? waiting : fires;
    into.push(...batch.fires);
    if (into.length > KEPT) into.splice(0, into.length - KEPT);
    if (batch.ended) {
      closed = `no more fires: ${batch.ended}`;
      say($('no-fires'), `No more fires: ${batch.ended}`);
    }
    for (const fire of batch.fires) if (!outcomes.has(fire.outcome)) addOutcome(fire.outcome);
    draw();
  });
  source.addEventListener('error', () => {
    if (source.readyState !== EventSource.CLOSED) return;
    closed = 'the stream is closed: load the page again';
    say($('no-fires'), 'The stream of fires is closed: too many pages may be open. Load the page again.');
    draw();
  });
  const outcomes = new Set();
  const addOutcome = (outcome) => {
    outcomes.add(outcome);
    $('by-outcome').append(h('option', { value: outcome, textContent: outcome }));
  };
  const isTrouble = (fire) => ['failed', 'rejected', 'dropped', 'aborted'].includes(fire.outcome)
    || fire.handlers.some((it) => it.status === 'failed' || it.status === 'shadow_failed');
  const filter = () => {
    const [point, handler, text] = ['by-point', 'by-handler', 'by-text'].map((id) => $(id).value.trim().toLowerCase());
    const outcome = $('by-outcome').value;
    return (fire) => (!point || fire.point.toLowerCase().includes(point))
      && (!handler || fire.handlers.some((it) => it.handler.toLowerCase().slice(fire.point.length).includes(handler)))
      && (!outcome || (outcome === '!' ? isTrouble(fire) : fire.outcome === outcome))
      && (!text || [fire.point, fire.outcome, fire.error ?? '', ...fire.handlers.flatMap((it) => [it.handler, it.text, ...Object.values(it.notes)])].some((it) => it.toLowerCase().includes(text)));
  };
  // At most once a frame, however many fires there are.
  const draw = () => {
    if (!drawn) return;
    drawn = false;
    requestAnimationFrame(() => { drawn = true; drawFires(); });
  };
  const drawFires = () => {
    const matching = fires.filter(filter());
    // Not by their numbers, which begin anew with the host.
    keyed($('fires'), matching.slice(-SHOWN).reverse(), (it) => it, makeFire, () => {});
    $('no-fires').hidden = matching.length > 0;
    if (!matching.length && fires.length) say($('no-fires'), 'No fire passes the filters.');
    const parts = [matching.length === fires.length ? plural(fires.length, 'fire') : `${matching.length} of ${plural(fires.length, 'fire')}`];
    if (paused) parts.push(`paused, ${waiting.length} new`);
    if (missed) parts.push(`${missed.toLocaleString('en')} passed over`);
    if (closed) parts.push(closed);
    say($('seen'), parts.join(', '));
  };
  const QUIET = ['ran', 'ran, set nothing', 'passed'];
  const makeFire = (fire) => {
    const trouble = ['failed', 'rejected', 'dropped', 'aborted'].includes(fire.outcome);
    const kind = trouble ? 'trouble' : fire.outcome === 'claimed' ? 'claimed' : ['amended', 'recovered'].includes(fire.outcome) ? 'did' : '';
    const chips = fire.handlers.map((it) => {
      const off = it.status === 'filtered' && /disabled|sampled/.test(it.text);
      const refused = it.status === 'ran' && /^(rejected|aborted): /.test(it.text);
      const did = it.status === 'ran' && !QUIET.includes(it.text);
      return h('span', { className: `chip ${off ? 'off' : refused ? 'failed' : did ? 'did' : it.status}`, textContent: short(it.handler, fire.point) + (off ? ': off' : ''), title: [it.text, ...Object.entries(it.notes).map(([key, value]) => `${key}: ${value}`)].join('\n') });
    });
    if (fire.more) chips.push(h('span', { className: 'soft', textContent: `and ${fire.more} more` }));
    const remarks = fire.handlers.filter((it) => it.status !== 'filtered' && !(it.status === 'ran' && QUIET.includes(it.text)))
      .map((it) => [/failed$/.test(it.status) ? 'bad' : '', `${short(it.handler, fire.point)}: ${it.text}`]);
    const row = h('li', {},
      h('span', { className: 'time', textContent: clock(fire.at_ms) }),
      h('span', { className: `point-name ${fire.model}${fire.depth ? ' nested' : ''}`, textContent: fire.point, title: fire.model }),
      h('span', { className: `outcome ${kind}`, textContent: fire.outcome }),
      h('span', { className: 'took', textContent: duration(fire.took_ns) }),
      chips.length ? h('span', { className: 'chips' }, ...chips) : null,
      fire.error ? h('span', { className: 'remark bad', textContent: fire.error }) : null,
      ...remarks.slice(0, 6).map(([mood, textContent]) => h('span', { className: `remark ${mood}`, textContent })));
    row.dataset.point = fire.point;
    return row;
  };
  $('pause').addEventListener('click', () => {
    paused = !paused;
    $('pause').setAttribute('aria-pressed', String(paused));
    say($('pause'), paused ? 'Go on' : 'Pause');
    if (!paused) {
      fires = fires.concat(waiting).slice(-KEPT);
      waiting = [];
    }
    draw();
  });
  $('wipe').addEventListener('click', () => { fires = []; waiting = []; missed = 0; say($('no-fires'), 'No fire yet.'); draw(); });
  for (const id of ['by-point', 'by-handler', 'by-outcome', 'by-text']) $(id).addEventListener('input', draw);

  document.addEventListener('keydown', (event) => {
    if (event.target.closest('input, select, textarea, dialog') || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === '/') { event.preventDefault(); $('find').focus(); }
    if (event.key === 'p') $('pause').click();
  });

  poll();
  audit();
})();
