import { reported, says, type Task } from "../task.ts";

/** An attribute of a form: a submit handler that reports the values of all fields, by field name. */
const REPORT = 'onsubmit="event.preventDefault(); done(Object.fromEntries(new FormData(this)))"';

export const formTasks: Task[] = [
  {
    id: "contact-form",
    ask: "Send the contact form as Ada Lovelace, ada@example.org, with the message 'Please call me back'.",
    page: `<h1>Contact</h1><form ${REPORT}><label>Name <input name=name required></label><label>Email <input type=email name=email required></label>
      <label>Message <textarea name=message></textarea></label><button>Send</button></form>`,
    isSolved: reported({ name: "Ada Lovelace", email: "ada@example.org", message: "Please call me back" }),
    solve: [
      `await page.getByLabel('Name').fill('Ada Lovelace'); await page.getByLabel('Email').fill('ada@example.org');
       await page.getByLabel('Message').fill('Please call me back'); await page.getByRole('button', { name: 'Send' }).click();`,
    ],
  },
  {
    id: "select-and-radio",
    ask: "Order the yearly Pro plan to Austria, accept the terms, and do not subscribe to the newsletter.",
    page: `<form ${REPORT}><fieldset><legend>Plan</legend><label><input type=radio name=plan value=basic checked> Basic</label><label><input type=radio name=plan value=pro> Pro</label></fieldset>
      <label>Billing <select name=billing><option>Monthly<option>Yearly</select></label>
      <label>Country <select name=country><option>Belgium<option>Austria<option>Australia</select></label>
      <label><input type=checkbox name=news checked> Newsletter</label> <label><input type=checkbox name=terms required> I accept the terms</label><button>Order</button></form>`,
    isSolved: reported({ plan: "pro", billing: "Yearly", country: "Austria", terms: "on" }),
    solve: [
      `await page.getByLabel('Pro').check(); await page.getByLabel('Billing').selectOption('Yearly'); await page.getByLabel('Country').selectOption('Austria');
       await page.getByLabel('Newsletter').uncheck(); await page.getByLabel('I accept').check(); await page.getByRole('button').click();`,
    ],
  },
  {
    id: "date-field",
    ask: "Book a table for 14 March 2027 at 19:30.",
    page: `<form ${REPORT}><label>Day <input type=date name=day></label><label>Time <input type=time name=time></label><button>Book</button></form>`,
    isSolved: reported({ day: "2027-03-14", time: "19:30" }),
    solve: [
      "await page.getByLabel('Day').fill('2027-03-14'); await page.getByLabel('Time').fill('19:30'); await page.getByRole('button').click();",
    ],
  },
  {
    id: "calendar",
    ask: "Choose 14 March 2027 in the calendar.",
    page: `<div role=grid aria-label=Calendar><button id=back aria-label="Previous month">‹</button><strong id=month></strong><button id=next><svg class="icon icon-chevron-right" width=12 height=12></svg></button><div id=days></div></div>
      <script>let at = new Date(2026, 10, 1); const names = ['January','February','March','April','May','June','July','August','September','October','November','December'];
      function show() { month.textContent = names[at.getMonth()] + ' ' + at.getFullYear(); days.textContent = '';
        for (let d = 1; d <= new Date(at.getFullYear(), at.getMonth() + 1, 0).getDate(); d++) { const b = document.createElement('button'); b.textContent = d; b.onclick = () => done([at.getFullYear(), at.getMonth() + 1, d]); days.append(b); } }
      back.onclick = () => { at.setMonth(at.getMonth() - 1); show(); }; next.onclick = () => setTimeout(() => { at.setMonth(at.getMonth() + 1); show(); }, 80); show();</script>`,
    isSolved: reported([2027, 3, 14]),
    solve: [
      `for (let i = 0; i < 12 && await page.locator('#month').innerText() !== 'March 2027'; i++) { const was = await page.locator('#month').innerText(); await page.locator('#next').click(); await page.waitForFunction((w) => document.querySelector('#month').innerText !== w, was); }
       await page.getByRole('button', { name: '14', exact: true }).click();`,
    ],
  },
  {
    id: "range-slider",
    ask: "Set the volume to 70 and save.",
    page: `<form ${REPORT}><label>Volume <input type=range name=volume min=0 max=100 step=5 value=20></label><button>Save</button></form>`,
    isSolved: reported({ volume: "70" }),
    solve: ["await page.getByLabel('Volume').fill('70'); await page.getByRole('button').click();"],
  },
  {
    id: "custom-slider",
    ask: "Set the brightness to 45 and press Apply.",
    page: `<div id=slider role=slider tabindex=0 aria-label=Brightness aria-valuemin=0 aria-valuemax=100 aria-valuenow=20 style="width:200px;height:20px;background:#ccc"></div><button onclick="done(slider.ariaValueNow)">Apply</button>
      <script>slider.onkeydown = (e) => { const by = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1, PageUp: 10, PageDown: -10 }[e.key] ?? 0; slider.ariaValueNow = String(Number(slider.ariaValueNow) + by); };</script>`,
    isSolved: reported("45"),
    solve: [
      "await page.getByRole('slider').focus(); for (let i = 0; i < 25; i++) await page.keyboard.press('ArrowRight'); await page.getByRole('button').click();",
    ],
  },
  {
    id: "autocomplete",
    ask: "Choose the airport Vienna (VIE) as the destination, then continue.",
    page: `<label>Destination <input id=to role=combobox aria-expanded=false autocomplete=off></label><ul id=list role=listbox></ul><button onclick="done(to.dataset.code ?? null)">Continue</button>
      <script>const all = { VIE: 'Vienna (VIE)', VNC: 'Venice Florida (VNC)', VCE: 'Venice (VCE)' }; let timer; to.oninput = () => { clearTimeout(timer); delete to.dataset.code; timer = setTimeout(() => { list.textContent = ''; for (const [code, name] of Object.entries(all)) if (to.value && name.toLowerCase().includes(to.value.toLowerCase())) { const li = document.createElement('li'); li.role = 'option'; li.textContent = name; li.onclick = () => { to.value = name; to.dataset.code = code; list.textContent = ''; }; list.append(li); } }, 300); };</script>`,
    isSolved: reported("VIE"),
    solve: [
      "await page.getByRole('combobox').pressSequentially('Vienna'); await page.getByRole('option', { name: 'VIE' }).click(); await page.getByRole('button').click();",
    ],
  },
  {
    id: "checkbox-list",
    ask: "Select exactly the fruits that are in season, and save.",
    page: `<form onsubmit="event.preventDefault(); done(new FormData(this).getAll('fruit').sort())">${[
      ["apple", true],
      ["mango", false],
      ["pear", true],
      ["lychee", false],
      ["plum", true],
    ]
      .map(
        ([name, isIn]) =>
          `<div><label><input type=checkbox name=fruit value=${name} ${name === "mango" ? "checked" : ""}> ${name}</label> <em>${isIn ? "in season" : "imported"}</em></div>`,
      )
      .join("")}<button>Save</button></form>`,
    isSolved: reported(["apple", "pear", "plum"]),
    solve: [
      "for (const name of ['apple', 'pear', 'plum']) await page.getByLabel(name).check(); await page.getByLabel('mango').uncheck(); await page.getByRole('button').click();",
    ],
  },
  {
    id: "validation",
    ask: "Sign up with the user name ada and the password lovelace. If something is refused, add a 7 to it.",
    page: `<form onsubmit="event.preventDefault(); const f = new FormData(this); const [u, p] = [f.get('user'), f.get('pass')]; problem.textContent = u === 'ada' ? 'This user name is taken.' : /\\d/.test(p) ? '' : 'The password needs a digit.'; if (!problem.textContent) done([u, p])">
      <label>User name <input name=user></label><label>Password <input name=pass type=password></label><p role=alert id=problem></p><button>Sign up</button></form>`,
    isSolved: reported(["ada7", "lovelace7"]),
    solve: [
      "await page.getByLabel('User name').fill('ada'); await page.getByLabel('Password').fill('lovelace'); await page.getByRole('button').click();",
      "await page.getByLabel('User name').fill('ada7'); await page.getByRole('button').click();",
      "await page.getByLabel('Password').fill('lovelace7'); await page.getByRole('button').click();",
    ],
  },
  {
    id: "rich-text",
    ask: "Write 'Meet at noon' into the note, make all of it bold with the toolbar, and save.",
    page: `<button onmousedown="event.preventDefault(); document.execCommand('bold')" aria-label=Bold><b>B</b></button><div id=note contenteditable role=textbox aria-label=Note style="border:1px solid;min-height:2em"></div><button onclick="done([note.innerText.trim(), /<(b|strong)|font-weight: (bold|700)/.test(note.innerHTML)])">Save</button>`,
    isSolved: reported(["Meet at noon", true]),
    solve: [
      "await page.getByRole('textbox').click(); await page.keyboard.type('Meet at noon'); await page.keyboard.press('ControlOrMeta+a'); await page.getByLabel('Bold').click(); await page.getByRole('button', { name: 'Save' }).click();",
    ],
  },
  {
    id: "stepper",
    ask: "Put 4 adults and 1 child into the booking and confirm.",
    page: `<div><span>Adults</span> <button class=minus>−</button> <output id=adults>2</output> <button class=plus>+</button></div><div><span>Children</span> <button class=minus>−</button> <output id=kids>3</output> <button class=plus>+</button></div><button onclick="done([adults.value, kids.value])">Confirm</button>
      <script>for (const row of document.querySelectorAll('div')) for (const [cls, by] of [['.minus', -1], ['.plus', 1]]) row.querySelector(cls).onclick = () => { const out = row.querySelector('output'); out.value = String(Math.max(0, Number(out.value) + by)); };</script>`,
    isSolved: reported(["4", "1"]),
    solve: [
      "const row = (name) => page.locator('div', { hasText: name }); await row('Adults').getByText('+').click({ clickCount: 2 }); await row('Children').getByText('−').click(); await row('Children').getByText('−').click(); await page.getByText('Confirm').click();",
    ],
  },
  {
    id: "wizard",
    ask: "Complete the insurance wizard: a car of 2019, no accidents, cover from 1 June 2027. Read the price to me.",
    page: `<main id=step></main><script>const data = {}; const steps = ['<h1>Step 1</h1><label>Built in <input id=year></label>', '<h1>Step 2</h1><fieldset><legend>Accidents</legend><label><input type=radio name=acc value=yes> Yes</label><label><input type=radio name=acc value=no> No</label></fieldset>', '<h1>Step 3</h1><label>From <input type=date id=from></label>'];
      let at = 0; const read = [() => year.value, () => document.querySelector('[name=acc]:checked')?.value, () => from.value];
      function show() { step.innerHTML = at < 3 ? steps[at] + '<p id=hint></p><button onclick="go()">Next</button>' : '<h1>Offer</h1><p>Your price is <b>€ 41.70</b> a month.</p><button>Accept</button>'; if (at === 3) done(data); }
      function go() { const value = read[at](); if (!value) { hint.textContent = 'Please answer.'; return; } data[at] = value; step.innerHTML = 'Please wait …'; setTimeout(() => { at++; show(); }, 200); } show();</script>`,
    isSolved: (outcome) =>
      reported({ 0: "2019", 1: "no", 2: "2027-06-01" })(outcome) && says(/41[.,]70/)(outcome),
    solve: [
      `await page.getByLabel('Built in').fill('2019'); await page.getByText('Next').click(); await page.getByLabel('No').check(); await page.getByText('Next').click();
       await page.getByLabel('From').fill('2027-06-01'); await page.getByText('Next').click(); await page.getByText('Accept').waitFor(); return page.locator('b').innerText();`,
    ],
    answer: "The price is € 41.70 a month.",
  },
  {
    id: "login",
    ask: "Log in as ada with the password engine, and tell me the balance.",
    page: `<form onsubmit="event.preventDefault(); const f = new FormData(this); fetch('check?ok=' + (f.get('u') === 'ada' && f.get('p') === 'engine')).then(() => { document.body.innerHTML = f.get('p') === 'engine' ? '<h1>Welcome Ada</h1><p>Balance: € 1,204.55</p>' : 'Wrong password'; done('in'); })"><label>User <input name=u></label><label>Password <input type=password name=p></label><button>Log in</button></form>`,
    routes: { check: { body: "{}", delayMs: 300 } },
    isSolved: says(/1[,.]?204[.,]55/),
    solve: [
      "await page.getByLabel('User').fill('ada'); await page.getByLabel('Password').fill('engine'); await page.getByRole('button').click();",
    ],
    answer: "The balance is € 1,204.55.",
  },
  {
    id: "transcribe",
    ask: "Copy the order number, the customer and the total from the invoice into the form, and save it.",
    page: `<section><h2>Invoice</h2><dl><dt>Order<dd>A-2291<dt>Customer<dd>Grace Hopper<dt>Net<dd>€ 80.00<dt>Total<dd>€ 96.00</dl></section>
      <form ${REPORT}><label>Order <input name=order></label><label>Customer <input name=customer></label><label>Total <input name=total placeholder="0.00"></label><button>Save</button></form>`,
    isSolved: reported({ order: "A-2291", customer: "Grace Hopper", total: "96.00" }),
    solve: [
      "await page.getByLabel('Order').fill('A-2291'); await page.getByLabel('Customer').fill('Grace Hopper'); await page.getByLabel('Total').fill('96.00'); await page.getByRole('button').click();",
    ],
  },
  {
    id: "retry",
    ask: "Submit the request. If the server fails, submit it again until it is accepted, and tell me the ticket number.",
    page: `<button onclick="n++; out.textContent = 'Sending …'; fetch(n < 3 ? 'fails' : 'works').then(async (r) => { out.textContent = r.ok ? await r.text() : 'The server failed. Please try again.'; if (r.ok) done(n); })">Submit</button><p id=out role=status></p><script>let n = 0;</script>`,
    routes: { fails: { body: "no", status: 500 }, works: { body: "Accepted: ticket 7731" } },
    isSolved: says(/7731/),
    solve: [
      "await page.getByRole('button').click();",
      "await page.getByRole('button').click();",
      "await page.getByRole('button').click();",
    ],
    answer: (results) => /ticket (\d+)/.exec(results.join("\n"))?.[0] ?? "",
  },
];
