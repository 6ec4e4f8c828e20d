import { createHash } from "node:crypto";
import { escapeHtml } from "#lib/porting/html/escape.ts";

/** HTML that is safe to insert. Only {@link html} creates it, so that no text is inserted without being escaped. */
export type Html = { html: string };

type Part = Html | string | number | undefined | null | false | readonly (Html | undefined | false)[];

const toHtml = (part: Part): string => {
  if (part === undefined || part === null || part === false) return "";
  if (typeof part === "string" || typeof part === "number") return escapeHtml(String(part));
  return "html" in part ? part.html : part.map(toHtml).join("");
};

/** Composes HTML. Texts are escaped, HTML is inserted, and `undefined` and `false` are left out. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html => ({
  html: strings.map((text, index) => text + toHtml(parts[index])).join(""),
});

const STYLE = `:root{color-scheme:light dark;--canvas:light-dark(#f9fafb,#15171b);--surface:light-dark(#fff,#1b1d22);--sunken:light-dark(#eff1f4,#101216);--line:light-dark(#767d8a,#7d8490);--soft:light-dark(#4b515c,#b7bcc6);--ink:light-dark(#1a1d24,#eceef1);--accent:light-dark(#2b52d0,#8eaaf8);--on-accent:light-dark(#fff,#0e1524);--bad:light-dark(#b3261e,#f2928a)}
*{box-sizing:border-box}
body{margin:0;background:var(--canvas);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:40rem;margin:0 auto;padding:clamp(1rem,6vh,4rem) 1rem 3rem}
h1{font-size:1.25rem;line-height:1.35;margin:0 0 .75rem}
h1,.text,legend,label,li,.hint{overflow-wrap:anywhere}
.text{white-space:pre-wrap;margin:0 0 1rem}
.soft,.hint{color:var(--soft)}
.hint,.soft{font-size:.875rem;margin:.25rem 0 0}
.problem{color:var(--bad);font-size:.875rem;margin:.25rem 0 0}
.alert{border:1px solid var(--bad);border-radius:8px;padding:.75rem 1rem;margin:0 0 1rem}
form{display:grid;gap:1.25rem;margin-top:1.25rem}
form+.soft{margin-top:1.25rem}
fieldset{border:0;margin:0;padding:0;min-width:0}
legend,.label{font-weight:600;padding:0;margin:0 0 .25rem;display:block}
.optional{font-weight:400;color:var(--soft)}
.choice{display:flex;gap:.625rem;padding:.375rem 0;align-items:flex-start}
.choice input{width:1.25rem;height:1.25rem;margin:.125rem 0 0;flex:none;accent-color:var(--accent)}
input:not([type=checkbox],[type=radio]),select,textarea{width:100%;min-height:2.75rem;padding:.5rem .75rem;font:inherit;color:inherit;background:var(--surface);border:1px solid var(--line);border-radius:8px}
textarea{min-height:6rem;resize:vertical}
:is(input,select,textarea)[aria-invalid=true]{border-color:var(--bad)}
pre{margin:0;padding:.75rem 1rem;max-height:60vh;overflow:auto;background:var(--sunken);border-radius:8px;font:.875rem/1.5 ui-monospace,monospace;white-space:pre-wrap;overflow-wrap:anywhere}
code{font:.9375em ui-monospace,monospace;overflow-wrap:anywhere}
.buttons{display:flex;flex-wrap:wrap;gap:.75rem}
button{min-height:2.75rem;padding:.5rem 1.25rem;font:inherit;font-weight:600;border-radius:8px;border:1px solid var(--line);background:var(--surface);color:inherit;cursor:pointer}
button.main{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
a{color:var(--accent)}
:focus-visible{outline:3px solid var(--accent);outline-offset:2px}`;

const STYLE_HASH = createHash("sha256").update(STYLE).digest("base64");

/** The page loads nothing, runs no script, is shown in no frame, and sends its form only to this service. */
const POLICY = `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'`;

/** Creates the response with a page: no cache stores it, and no search engine lists it. */
export function answerPage(
  status: number,
  { title, body }: { title: string; body: Html },
  headers: Record<string, string> = {},
): Response {
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex, nofollow">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
<style>${{ html: STYLE }}</style>
</head>
<body>
<main>
${body}
</main>
</body>
</html>
`;
  return new Response(page.html, {
    status,
    headers: {
      ...headers,
      "Content-Type": "text/html; charset=utf-8",
      "Content-Security-Policy": POLICY,
      "Cache-Control": "no-store",
      "Referrer-Policy": "no-referrer",
      "X-Robots-Tag": "noindex, nofollow",
    },
  });
}
