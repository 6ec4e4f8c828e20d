import { reported, says, type Task } from "../task.ts";

export const pageTasks: Task[] = [
  {
    id: "frame-form",
    ask: "Subscribe ada@example.org in the newsletter box of the page.",
    page: `<h1>News</h1><iframe title=Newsletter srcdoc="<label>Email <input id=e></label><button onclick='parent.done(e.value)'>Subscribe</button>"></iframe>`,
    isSolved: reported("ada@example.org"),
    solve: [
      "const frame = page.frameLocator('iframe'); await frame.getByLabel('Email').fill('ada@example.org'); await frame.getByRole('button').click();",
    ],
  },
  {
    id: "frame-of-another-site",
    ask: "Pay with the card number 4111 1111 1111 1111 in the payment form.",
    page: `<h1>Checkout</h1><script>document.write('<iframe title=Payment src="' + location.href.replace('127.0.0.1', 'localhost') + 'card"></iframe>'); addEventListener('message', (e) => done(e.data));</script>`,
    routes: {
      card: {
        type: "text/html",
        body: `<label>Card number <input id=c inputmode=numeric></label><button onclick="parent.postMessage(c.value.replaceAll(' ', ''), '*')">Pay</button>`,
      },
    },
    isSolved: reported("4111111111111111"),
    solve: [
      "const frame = page.frameLocator('iframe'); await frame.getByLabel('Card number').fill('4111111111111111'); await frame.getByRole('button').click();",
    ],
  },
  {
    id: "shadow-root",
    ask: "Rate the product with 4 stars and send the rating.",
    page: `<product-rating></product-rating><script>customElements.define('star-row', class extends HTMLElement { connectedCallback() { const r = this.attachShadow({ mode: 'open' }); for (let n = 1; n <= 5; n++) { const b = document.createElement('button'); b.ariaLabel = n + ' stars'; b.textContent = '☆'; b.onclick = () => { this.value = n; }; r.append(b); } } });
      customElements.define('product-rating', class extends HTMLElement { connectedCallback() { const r = this.attachShadow({ mode: 'open' }); r.innerHTML = '<star-row></star-row><button>Send rating</button>'; r.querySelector('button').onclick = () => done(r.querySelector('star-row').value ?? null); } });</script>`,
    isSolved: reported(4),
    solve: [
      "await page.getByRole('button', { name: '4 stars' }).click(); await page.getByRole('button', { name: 'Send' }).click();",
    ],
  },
  {
    id: "icon-buttons",
    ask: "Delete the second note.",
    page: `<style>.icon { width: 24px; height: 24px; display: inline-block; border: 1px solid; cursor: pointer }</style>${["Milk", "Bread", "Tea"].map((note) => `<p>${note} <span class="icon icon-pencil" onclick="done('edit ${note}')"></span> <span class="icon icon-trash" onclick="done('delete ${note}')"></span></p>`).join("")}`,
    isSolved: ({ done }) => done.length === 1 && done[0] === "delete Bread",
    solve: ["await page.locator('.icon-trash').nth(1).click();"],
  },
  {
    id: "virtual-list",
    ask: "What is the status of order 777?",
    page: `<div id=view role=list tabindex=0 aria-label=Orders style="height:300px;overflow:auto;position:relative"><div id=tall style="height:30000px"></div></div><script>const status = (n) => n === 777 ? 'lost in Lisbon' : n % 2 ? 'shipped' : 'open';
      view.onscroll = show; function show() { const first = Math.floor(view.scrollTop / 30); tall.textContent = ''; for (let n = first; n < Math.min(1000, first + 14); n++) { const d = document.createElement('div'); d.role = 'listitem'; d.style.cssText = 'position:absolute;top:' + n * 30 + 'px'; d.textContent = 'Order ' + n + ': ' + status(n); tall.append(d); } } show();</script>`,
    isSolved: says(/Lisbon/),
    solve: [
      "await page.locator('#view').evaluate((view) => { view.scrollTop = 777 * 30; }); await page.getByText('Order 777').waitFor();",
    ],
    answer: (results) => /Order 777: [\w ]+/.exec(results.at(-1) ?? "")?.[0] ?? "",
  },
  {
    id: "infinite-scroll",
    ask: "Open article 64.",
    page: `<main id=list></main><script>let n = 0, busy = false; function more() { if (busy || n > 90) return; busy = true; setTimeout(() => { for (let i = 0; i < 15; i++) { n++; const p = document.createElement('p'); p.style.height = '80px'; p.innerHTML = '<a href=#>Article ' + n + '</a>'; const at = n; p.onclick = (e) => { e.preventDefault(); done(at); }; list.append(p); } busy = false; }, 150); } addEventListener('scroll', () => { if (scrollY + innerHeight > document.body.scrollHeight - 200) more(); }); more();</script>`,
    isSolved: reported(64),
    solve: [
      "const wanted = page.getByText('Article 64', { exact: true }); for (let i = 0; i < 20 && await wanted.count() === 0; i++) { await page.mouse.move(400, 400); await page.mouse.wheel(0, 5000); await page.waitForTimeout(250); } await wanted.click();",
    ],
  },
  {
    id: "late-content",
    ask: "What does the quote of the day say, and who said it?",
    page: `<h1>Quote of the day</h1><p id=q>Loading …</p><script>fetch('quote').then((r) => r.text()).then((t) => setTimeout(() => { q.textContent = t; }, 700));</script>`,
    routes: {
      quote: { body: "Simplicity is prerequisite for reliability. — Edsger Dijkstra", delayMs: 900 },
    },
    isSolved: says(/reliability[\s\S]*Dijkstra|Dijkstra[\s\S]*reliability/),
    solve: ["await page.getByText('Dijkstra').waitFor(); return page.locator('#q').innerText();"],
    answer: "Simplicity is prerequisite for reliability, said Edsger Dijkstra.",
  },
  {
    id: "cookie-dialog",
    ask: "Reject the cookies and buy the ticket.",
    page: `<button onclick="done(['buy', choice])">Buy ticket</button><div id=d role=dialog aria-modal=true aria-label=Cookies style="position:fixed;inset:0;background:#fffd"><p>We use cookies.</p><button onclick="choice = 'all'; d.remove()">Accept all</button><button onclick="choice = 'none'; d.remove()">Reject</button></div><script>let choice = null;</script>`,
    isSolved: reported(["buy", "none"]),
    solve: ["await page.getByText('Reject').click(); await page.getByText('Buy ticket').click();"],
  },
  {
    id: "modal-form",
    ask: "Add a task 'Water the plants' with high priority.",
    page: `<button onclick="m.showModal()">Add task</button><dialog id=m><form method=dialog onsubmit="done([t.value, p.value])"><label>Title <input id=t required></label><label>Priority <select id=p><option>low<option>normal<option>high</select></label><button>Save</button></form></dialog>`,
    isSolved: reported(["Water the plants", "high"]),
    solve: [
      "await page.getByText('Add task').click(); await page.getByLabel('Title').fill('Water the plants'); await page.getByLabel('Priority').selectOption('high'); await page.getByText('Save').click();",
    ],
  },
  {
    id: "drag-and-drop",
    ask: "Move the card 'Write report' to the column Done.",
    page: `<style>section { display: inline-block; width: 200px; height: 200px; border: 1px solid; vertical-align: top }</style><section><h2>Doing</h2><div draggable=true id=card>Write report</div><div draggable=true>Buy milk</div></section><section id=col><h2>Done</h2></section>
      <script>let held; document.ondragstart = (e) => { held = e.target; }; col.ondragover = (e) => e.preventDefault(); col.ondrop = () => { col.append(held); done(held.textContent); };</script>`,
    isSolved: ({ done }) => done.length === 1 && done[0] === "Write report",
    solve: ["await page.locator('#card').dragTo(page.locator('#col'));"],
  },
  {
    id: "pointer-drag",
    ask: "Drag the marker to the right end of the line.",
    page: `<div id=line style="position:relative;width:400px;height:20px;background:#ddd;margin:40px"><div id=k role=img aria-label=Marker style="position:absolute;left:0;width:20px;height:20px;background:red"></div></div>
      <script>k.onpointerdown = (e) => { k.setPointerCapture(e.pointerId); k.onpointermove = (m) => { k.style.left = Math.max(0, Math.min(380, m.clientX - line.getBoundingClientRect().x - 10)) + 'px'; }; k.onpointerup = () => { k.onpointermove = null; done(parseInt(k.style.left) >= 370); }; };</script>`,
    isSolved: reported(true),
    solve: [
      "const box = await page.locator('#k').boundingBox(); await page.mouse.move(box.x + 10, box.y + 10); await page.mouse.down(); await page.mouse.move(box.x + 200, box.y + 10, { steps: 5 }); await page.mouse.move(box.x + 400, box.y + 10, { steps: 5 }); await page.mouse.up();",
    ],
  },
  {
    id: "canvas",
    ask: "Click the red circle in the drawing.",
    page: `<canvas id=c width=400 height=300 style="border:1px solid"></canvas><script>const g = c.getContext('2d'); for (const [x, y, col] of [[80, 70, 'blue'], [310, 90, 'red'], [150, 220, 'green']]) { g.fillStyle = col; g.beginPath(); g.arc(x, y, 30, 0, 7); g.fill(); } c.onclick = (e) => done(Math.hypot(e.offsetX - 310, e.offsetY - 90) < 30);</script>`,
    isSolved: ({ done }) => done.length === 1 && done[0] === true,
    solve: [
      { name: "capture_preview", arguments: {} },
      "await page.locator('canvas').click({ position: { x: 310, y: 90 } });",
    ],
  },
  {
    id: "hover-menu",
    ask: "Choose Export › PDF from the File menu.",
    page: `<style>.sub { display: none } li:hover > .sub { display: block } li { width: 120px }</style><ul role=menubar><li role=menuitem>File<ul class=sub role=menu><li role=menuitem>Open<li role=menuitem>Export<ul class=sub role=menu><li role=menuitem onclick="done('csv')">CSV<li role=menuitem onclick="done('pdf')">PDF</ul></ul></ul>`,
    isSolved: reported("pdf"),
    solve: [
      "await page.getByText('File').hover(); await page.getByText('Export').hover(); await page.getByText('PDF').click();",
    ],
  },
  {
    id: "command-palette",
    ask: "Open the command palette with Ctrl+K and run the command that invites a colleague.",
    page: `<p>Press <kbd>Ctrl</kbd>+<kbd>K</kbd> for commands.</p><dialog id=d><input id=q aria-label=Command><ul id=l></ul></dialog><script>const all = ['Archive', 'Invite colleague', 'Import data']; addEventListener('keydown', (e) => { if (e.key === 'k' && e.ctrlKey) { e.preventDefault(); d.showModal(); q.focus(); } }); q.oninput = () => { l.innerHTML = all.filter((c) => c.toLowerCase().includes(q.value.toLowerCase())).map((c) => '<li>' + c).join(''); }; q.onkeydown = (e) => { if (e.key === 'Enter') { done(l.firstChild?.textContent ?? null); d.close(); } };</script>`,
    isSolved: reported("Invite colleague"),
    solve: [
      "await page.keyboard.press('Control+k'); await page.getByLabel('Command').fill('Invite'); await page.keyboard.press('Enter');",
    ],
  },
  {
    id: "inline-edit",
    ask: "Change the quantity of tea to 12.",
    page: `<table>${["Tea", "Milk"].map((name) => `<tr><td>${name}<td class=q tabindex=0>3`).join("")}</table><script>for (const cell of document.querySelectorAll('.q')) cell.ondblclick = () => { const i = document.createElement('input'); i.value = cell.textContent; i.ariaLabel = 'Quantity'; cell.textContent = ''; cell.append(i); i.focus(); i.onkeydown = (e) => { if (e.key === 'Enter') { const value = i.value; cell.textContent = value; done([cell.previousSibling.textContent.trim(), value]); } }; };</script>`,
    isSolved: reported(["Tea", "12"]),
    solve: [
      "await page.locator('tr', { hasText: 'Tea' }).locator('.q').dblclick(); await page.getByLabel('Quantity').fill('12'); await page.keyboard.press('Enter');",
    ],
  },
  {
    id: "tree",
    ask: "Check the folder Europe › Austria › Graz, and nothing else.",
    page: `<ul role=tree id=t></ul><script>const data = { Europe: { Austria: { Vienna: 0, Graz: 0 }, Spain: { Madrid: 0 } }, Asia: { Japan: { Tokyo: 0 } } }; const build = (into, o) => { for (const [name, inner] of Object.entries(o)) { const li = document.createElement('li'); li.role = 'treeitem'; const b = document.createElement('button'); b.textContent = inner ? '▸' : '·'; b.ariaLabel = 'Expand ' + name; const c = document.createElement('input'); c.type = 'checkbox'; c.ariaLabel = name; c.onchange = () => done([...document.querySelectorAll(':checked')].map((x) => x.ariaLabel)); li.append(b, c, name); let ul; b.onclick = () => { if (ul) { ul.remove(); ul = undefined; } else if (inner) { ul = document.createElement('ul'); ul.role = 'group'; build(ul, inner); li.append(ul); } }; into.append(li); } }; build(t, data);</script>`,
    isSolved: ({ done }) => JSON.stringify(done.at(-1)) === '["Graz"]',
    solve: [
      "await page.getByLabel('Expand Europe').click(); await page.getByLabel('Expand Austria').click(); await page.getByLabel('Graz', { exact: true }).check();",
    ],
  },
  {
    id: "single-page-app",
    ask: "Turn off the email notifications in the settings.",
    page: `<nav><a href="#home">Home</a> <a href="#settings">Settings</a></nav><main id=m></main><script>const show = () => { const at = location.hash; m.innerHTML = at === '#settings' ? '<h1>Settings</h1><a href="#profile">Profile</a> <a href="#notifications">Notifications</a>' : at === '#notifications' ? '<h1>Notifications</h1><div role=switch aria-checked=true tabindex=0 id=sw>Email</div><div role=switch aria-checked=true tabindex=0>Push</div>' : '<h1>' + (at || '#home') + '</h1>'; for (const s of document.querySelectorAll('[role=switch]')) s.onclick = () => { s.ariaChecked = String(s.ariaChecked !== 'true'); done([s.textContent, s.ariaChecked]); }; }; onhashchange = show; show();</script>`,
    isSolved: ({ done }) => JSON.stringify(done) === '[["Email","false"]]',
    solve: [
      "await page.getByText('Settings').click(); await page.getByText('Notifications').click(); await page.getByRole('switch', { name: 'Email' }).click();",
    ],
  },
  {
    id: "confirm-dialog",
    ask: "Delete the account and confirm that you are sure.",
    page: `<button onclick="done(confirm('Do you really want to delete the account?'))">Delete account</button>`,
    isSolved: reported(true),
    solve: [
      "page.on('dialog', (dialog) => dialog.accept()); await page.getByText('Delete account').click();",
    ],
  },
  {
    id: "prompt-dialog",
    ask: "Rename the list to 'Groceries'.",
    page: `<h1 id=h>Untitled</h1><button onclick="const n = prompt('New name', h.textContent); if (n) { h.textContent = n; done(n); }">Rename</button>`,
    isSolved: reported("Groceries"),
    solve: [
      "page.on('dialog', (dialog) => dialog.accept('Groceries')); await page.getByText('Rename').click();",
    ],
  },
  {
    id: "alert",
    ask: "Press Check and tell me which code the message shows.",
    page: `<button onclick="alert('Your code is K-4471'); done('seen')">Check</button>`,
    isSolved: says(/K-4471/),
    solve: ["await page.getByText('Check').click();"],
    answer: (results) => /K-\d+/.exec(results.at(-1) ?? "")?.[0] ?? "",
  },
  {
    id: "new-tab",
    ask: "Open the voucher, and redeem its code on this page.",
    page: `<a href=voucher target=_blank>Show voucher</a><label>Code <input id=c></label><button onclick="done(c.value)">Redeem</button>`,
    routes: {
      voucher: { type: "text/html", body: "<title>Voucher</title><p>Your code: <b>SPRING-88</b></p>" },
    },
    isSolved: reported("SPRING-88"),
    solve: [
      "await page.getByText('Show voucher').click();",
      "const code = await page.locator('b').innerText(); const first = context.pages().find((each) => each !== page); await first.bringToFront(); await first.getByLabel('Code').fill(code); await first.getByText('Redeem').click();",
    ],
  },
  {
    id: "popup-window",
    ask: "Choose the account 'Business' in the window that Connect opens.",
    page: `<button onclick="open('choose', 'w', 'width=300,height=200')">Connect</button><p id=s>Not connected</p><script>addEventListener('message', (e) => { s.textContent = 'Connected: ' + e.data; done(e.data); });</script>`,
    routes: {
      choose: {
        type: "text/html",
        body: `<title>Choose</title>${["Private", "Business"].map((name) => `<button onclick="opener.postMessage('${name}', '*'); close()">${name}</button>`).join("")}`,
      },
    },
    isSolved: reported("Business"),
    solve: [
      "const [window] = await Promise.all([page.waitForEvent('popup'), page.getByRole('button').click()]); await window.getByText('Business').click(); await page.getByText('Connected: Business').waitFor();",
    ],
  },
  {
    id: "download",
    ask: "Download the sales report and tell me how many units were sold in March.",
    page: `<h1>Reports</h1><a href=sales.csv>Sales report</a>`,
    routes: {
      "sales.csv": {
        type: "text/csv",
        headers: { "content-disposition": 'attachment; filename="sales.csv"' },
        body: "month,units\nJanuary,310\nFebruary,295\nMarch,418\n",
      },
    },
    isSolved: says(/\b418\b/),
    solve: [
      "await page.getByText('Sales report').click();",
      { name: "read_file", arguments: { path: "downloads/sales.csv" } },
    ],
    answer: (results) => /March,(\d+)/.exec(results.at(-1) ?? "")?.[1] ?? "",
  },
  {
    id: "made-download",
    ask: "Export the table and tell me the last line of the exported file.",
    page: `<button onclick="const a = document.createElement('a'); a.href = window.URL.createObjectURL(new Blob(['one\\ntwo\\nlast line 93\\n'])); a.download = 'export.txt'; a.click(); window.URL.revokeObjectURL(a.href)">Export</button>`,
    isSolved: says(/last line 93/),
    solve: [
      "await page.getByText('Export').click();",
      { name: "read_file", arguments: { path: "downloads/export.txt" } },
    ],
    answer: (results) => /last line \d+/.exec(results.at(-1) ?? "")?.[0] ?? "",
  },
  {
    id: "upload",
    ask: "Write the word 'hello' into a file greeting.txt, and upload it.",
    page: `<label>File <input type=file id=f></label><button onclick="f.files[0].text().then((t) => done([f.files[0].name, t.trim()]))">Upload</button>`,
    isSolved: reported(["greeting.txt", "hello"]),
    solve: [
      { name: "write_file", arguments: { path: "greeting.txt", content: "hello" } },
      "await page.getByLabel('File').setInputFiles('greeting.txt'); await page.getByRole('button', { name: 'Upload' }).click();",
    ],
  },
];
