import { ITEMS_SOURCE, type MatrixApp } from "../matrix-app.ts";
import { serveByProgram } from "../serve-app.ts";

const SHOP = `<script>
import { onMount } from "svelte";
${ITEMS_SOURCE}
let count = $state(1), isLate = $state(false), thanks = $state("");
onMount(() => { setTimeout(() => { isLate = true; }, 100); });
function submit(event) { event.preventDefault(); thanks = "Thanks " + event.currentTarget.elements.name.value; }
</script>
<main class={"shop shop-" + count}><h1>Checkout</h1>
<p id="greeting" class="muted" style="color: red">Hello <b>you</b>, {count} times</p>
<div class="actions"><button id="again" type="button" onclick={() => { count++; }}>Pay {count}</button><button id="more" type="button">More</button></div>
<ul id="list">{#each itemsOf(count) as item (item)}<li class="item" data-id={item}><span>{item}</span> <i>{count}</i></li>{/each}</ul>
{#if count > 0}<section class="summary"><h2>Total</h2><p>Total {count}</p></section>{/if}
<p id="status" class={"status status-" + count}>Count {count}</p>
{#if isLate}<p class="late">Late</p>{/if}
<form id="form" onsubmit={submit}><input name="name"><button id="send">Send</button></form>
<p id="thanks">{thanks}</p>
<a id="leave" href="/other">Other</a></main>`;

const APP_HTML = `<!doctype html><html><head><meta charset="utf-8">%sveltekit.head%</head><body><div style="display: contents">%sveltekit.body%</div></body></html>`;

/** SvelteKit's own production build with its client-side links. */
export const sveltekit: MatrixApp = {
  name: "Svelte (SvelteKit)",
  build: "`vite build`, `adapter-node`",
  shown: ["@sveltejs/kit", "svelte"],
  packages: {
    "@sveltejs/kit": "3.2.0",
    "@sveltejs/adapter-node": "6.0.1",
    "@sveltejs/vite-plugin-svelte": "7.3.1",
    svelte: "5.57.3",
    vite: "8.4.0",
  },
  files: {
    "vite.config.js": `import adapter from "@sveltejs/adapter-node"; import { sveltekit } from "@sveltejs/kit/vite"; export default { plugins: [sveltekit({ adapter: adapter() })] };`,
    "src/app.html": APP_HTML,
    "src/routes/+page.svelte": SHOP,
    "src/routes/other/+page.svelte": `<h1>Other</h1><a href="/">Back</a>`,
  },
  commands: [["node_modules/vite/bin/vite.js", "build"]],
  start: (folder) => serveByProgram(folder, ["build/index.js"]),
};
