/** The style sheet of the HTML export. It supports light and dark mode, narrow and wide screens, and paper. */
export const STYLE = `
:root { color-scheme: light dark; --canvas: #f7f7f5; --surface: #fff; --ink: #1c1c1a; --soft: #55554f; --line: #dddcd6; --accent: #0b57c2; --code: #f0efeb; --good: #17683a; --bad: #a3251b; --warn: #7a4b00; }
@media (prefers-color-scheme: dark) { :root { --canvas: #161615; --surface: #1f1f1d; --ink: #ecebe6; --soft: #b0afa8; --line: #3a3a36; --accent: #8ab8ff; --code: #2a2a27; --good: #7fd6a0; --bad: #ff9a90; --warn: #f0c078; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--canvas); color: var(--ink); font: 15px/1.55 system-ui, -apple-system, "Segoe UI", sans-serif; }
main, header, footer { max-width: 860px; margin: 0 auto; padding: 0 20px; }
header { padding-top: 36px; }
h1 { font-size: 26px; line-height: 1.25; margin: 0 0 6px; overflow-wrap: anywhere; }
h2 { font-size: 18px; margin: 40px 0 12px; padding-bottom: 6px; border-bottom: 1px solid var(--line); }
h3 { font-size: 15px; margin: 20px 0 8px; overflow-wrap: anywhere; }
h4, h5, h6 { font-size: 15px; margin: 14px 0 4px; }
a[href] { color: var(--accent); overflow-wrap: anywhere; }
.soft, time { color: var(--soft); font-size: 13px; }
.facts { display: grid; grid-template-columns: max-content 1fr; gap: 2px 16px; margin: 12px 0 0; font-size: 14px; }
.facts dt { color: var(--soft); } .facts dd { margin: 0; overflow-wrap: anywhere; }
nav ul { display: flex; flex-wrap: wrap; gap: 4px 16px; list-style: none; margin: 16px 0 0; padding: 0; font-size: 14px; }
.card { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 14px 16px; margin: 10px 0; }
.message { margin: 18px 0; }
.message > .who { font-weight: 600; font-size: 13px; margin: 0 0 4px; display: flex; gap: 10px; align-items: baseline; flex-wrap: wrap; }
.user > .said { background: var(--surface); border: 1px solid var(--line); border-radius: 10px; padding: 8px 14px; }
.plain { white-space: pre-wrap; overflow-wrap: anywhere; }
.prose { overflow-wrap: anywhere; } .prose > :first-child { margin-top: 0; } .prose > :last-child { margin-bottom: 0; }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 14px; } th, td { border: 1px solid var(--line); padding: 4px 10px; text-align: start; }
blockquote { margin: 8px 0; padding-left: 14px; border-left: 3px solid var(--line); color: var(--soft); }
code, pre, .selector { font-family: ui-monospace, "SF Mono", Menlo, Consolas, monospace; font-size: 13px; }
code { background: var(--code); border-radius: 4px; padding: 1px 4px; } pre code { background: none; padding: 0; }
pre { background: var(--code); border-radius: 8px; padding: 10px 12px; margin: 8px 0; overflow-x: auto; white-space: pre-wrap; overflow-wrap: anywhere; }
details { margin: 4px 0; } summary { cursor: pointer; overflow-wrap: anywhere; border-radius: 4px; } summary:focus-visible, a:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
details.tool > summary { color: var(--soft); font-size: 14px; }
.failed { color: var(--bad); } .refused { color: var(--warn); } .pass { color: var(--good); } .warn { color: var(--warn); } .fail { color: var(--bad); }
.changes { padding-left: 22px; margin: 6px 0; } .changes li { margin: 4px 0; overflow-wrap: anywhere; }
.tree { list-style: none; margin: 0; padding-left: 16px; } .tree li { overflow-wrap: anywhere; } .tree .key { color: var(--soft); } .root { padding-left: 0; }
figure { margin: 12px 0; } figure img { max-width: 100%; height: auto; border: 1px solid var(--line); border-radius: 8px; display: block; } figcaption { color: var(--soft); font-size: 13px; margin-top: 4px; overflow-wrap: anywhere; }
footer { padding-top: 32px; padding-bottom: 40px; }
@media (max-width: 560px) { main, header, footer { padding-left: 14px; padding-right: 14px; } .facts { grid-template-columns: 1fr; gap: 0; } .facts dd { margin-bottom: 6px; } }
@media print { :root { color-scheme: light; --canvas: #fff; --surface: #fff; --ink: #000; --soft: #444; --line: #bbb; --code: #f4f4f4; --accent: #000; } nav { display: none; } details::details-content { content-visibility: visible; block-size: auto; } figure, .card { break-inside: avoid; } h2, h3 { break-after: avoid; } }
`;
