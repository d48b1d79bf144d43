'use strict';
(() => {
  const find = (id) => document.getElementById(id);
  const all = (selector, within = document) => [...within.querySelectorAll(selector)];
  const [controls, search, quiet, keys] = ['controls', 'search', 'quiet', 'keys'].map(find);
  // The parts of the address that keep what is shown.
  const fields = { search, point: find('point'), plugin: find('plugin'), outcome: find('outcome') };

  const rows = all('.timeline > li').map((element) => ({
    element,
    text: element.textContent.toLowerCase(),
    point: element.dataset.point,
    plugins: element.dataset.plugins.split(' '),
    outcomes: element.dataset.outcomes.split(','),
    quiet: element.classList.contains('quiet'),
    trouble: 'trouble' in element.dataset,
    shown: true,
  }));
  const rowOf = new Map(rows.map((row) => [row.element, row]));
  const groups = all('.group').map((element) => ({
    element,
    said: element.querySelector('.said').textContent.toLowerCase(),
    rows: all('.timeline > li', element).map((element) => rowOf.get(element)),
  }));
  const sections = all('section:has(.group)');
  let current = null;

  const shownRows = () => rows.filter((row) => row.shown);
  const troubles = () => rows.filter((row) => row.shown && row.trouble);

  // Shows what is wanted, and says how much that is.
  function apply() {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    const [point, plugin, outcome] = [fields.point, fields.plugin, fields.outcome].map((it) => it.value);
    const picked = point || plugin || outcome;
    const withQuiet = quiet.checked || outcome === 'no handlers';
    let folded = 0;
    for (const row of rows) {
      const matches =
        (!point || row.point === point) &&
        (!plugin || row.plugins.includes(plugin)) &&
        (!outcome || row.outcomes.includes(outcome)) &&
        words.every((word) => row.text.includes(word));
      row.shown = matches && (withQuiet || !row.quiet);
      row.element.hidden = !row.shown;
      if (matches && !row.shown) folded += 1;
    }
    for (const group of groups) {
      // Words that were said are found too.
      const said = !picked && words.every((word) => group.said.includes(word));
      group.element.hidden = !said && !group.rows.some((row) => row.shown);
    }
    for (const section of sections) {
      section.hidden = all('.group', section).every((group) => group.hidden);
    }
    find('seen').hidden = Boolean(picked || words.length);
    const shown = shownRows().length;
    find('count').textContent =
      `${shown} of ${rows.length} rows shown` + (folded ? `, ${folded} quiet hidden` : '');
    find('none').hidden = shown > 0;
    find('clear').disabled = !picked && !search.value;
    // The key Tab goes to one row, not to every one.
    if (!current?.shown) setCurrent(null);
    tellPlace();
    keepInAddress();
  }

  function tellPlace() {
    const found = troubles();
    const place = found.indexOf(current);
    const of = found.length === 1 ? '1 refusal or failure' : `${found.length} refusals and failures`;
    find('place').textContent = place < 0 ? of : `${place + 1} of ${of}`;
    find('previous').disabled = find('next').disabled = found.length === 0;
  }

  function setCurrent(row) {
    current = row;
    const stop = current ?? shownRows()[0];
    for (const { element } of rows) {
      element.tabIndex = element === stop?.element ? 0 : -1;
      element.removeAttribute('aria-current');
    }
    current?.element.setAttribute('aria-current', 'true');
  }

  function goTo(row) {
    if (!row) return;
    setCurrent(row);
    row.element.focus({ preventScroll: true });
    row.element.scrollIntoView({ block: 'nearest' });
    tellPlace();
  }

  // To the next of these rows, or with a step of -1 to the one before; around the end.
  function walk(among, step) {
    const here = rows.indexOf(current);
    const ahead = here < 0 ? [] : among.filter((row) => (rows.indexOf(row) - here) * step > 0);
    goTo((ahead.length ? ahead : among).at(step > 0 ? 0 : -1));
  }

  function clear() {
    for (const field of Object.values(fields)) field.value = '';
    apply();
  }

  function keepInAddress() {
    const kept = new URLSearchParams();
    for (const [name, field] of Object.entries(fields)) if (field.value) kept.set(name, field.value);
    if (quiet.checked) kept.set('quiet', 'shown');
    const hash = kept.toString();
    if (hash !== location.hash.slice(1)) history.replaceState(null, '', `#${hash}`);
  }

  function takeFromAddress() {
    const kept = new URLSearchParams(location.hash.slice(1));
    for (const [name, field] of Object.entries(fields)) {
      field.value = kept.get(name) ?? '';
      if (field.selectedIndex < 0) field.value = '';
    }
    quiet.checked = kept.get('quiet') === 'shown';
    apply();
  }

  const actions = {
    '/': () => { search.focus(); search.select(); },
    j: () => walk(shownRows(), 1),
    ArrowDown: () => walk(shownRows(), 1),
    k: () => walk(shownRows(), -1),
    ArrowUp: () => walk(shownRows(), -1),
    n: () => walk(troubles(), 1),
    p: () => walk(troubles(), -1),
    q: () => { quiet.checked = !quiet.checked; apply(); },
    '?': () => keys.showModal(),
    Escape: () => { document.activeElement.blur(); clear(); },
  };

  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || keys.open) return;
    const { target, key } = event;
    if (target === search && key === 'Enter') {
      event.preventDefault();
      return goTo(shownRows()[0]);
    }
    // Letters that are typed, and those that choose from a list, are no commands.
    const typing = target === search || target.matches?.('select');
    if (!Object.hasOwn(actions, key) || (typing && key !== 'Escape')) return;
    event.preventDefault();
    actions[key]();
  });
  controls.addEventListener('submit', (event) => event.preventDefault());
  controls.addEventListener('input', apply);
  find('previous').addEventListener('click', actions.p);
  find('next').addEventListener('click', actions.n);
  find('clear').addEventListener('click', clear);
  find('help').addEventListener('click', actions['?']);
  addEventListener('hashchange', takeFromAddress);
  document.addEventListener('click', (event) => {
    const row = rowOf.get(event.target.closest?.('.timeline > li'));
    if (row) { setCurrent(row); tellPlace(); }
  });

  controls.hidden = false;
  takeFromAddress();
})();
