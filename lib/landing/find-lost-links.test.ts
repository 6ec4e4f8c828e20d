import assert from "node:assert/strict";
import { test } from "node:test";
import { mediaTypeOf } from "#lib/publication/landing/media-type.ts";
import { findLostLinks } from "./find-lost-links.ts";

async function find(files: Record<string, string>) {
  const contents = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
  const listed = [...contents].map(([path, bytes]) => ({
    path,
    hash: path,
    sizeBytes: bytes.byteLength,
    mediaType: mediaTypeOf(path),
  }));
  const { outside, missing, isOtherBase } = await findLostLinks({ files: listed, contents }, "guide");
  const write = (links: typeof outside) => links.map(({ from, link }) => `${from}: ${link}`);
  return { outside: write(outside), missing: write(missing), isOtherBase };
}

test("a build for the root of a site is found by its own links", async () => {
  const vitepress = await find({
    "index.html": `<!DOCTYPE html><html><head><link rel="preload stylesheet" href="/assets/style.css" as="style">
      <script type="module" src="/assets/app.js"></script><style>@font-face { src: url(/assets/inter.woff2) }</style></head>
      <body><a href="/start.html">Start</a><img srcset="/a.png 1x, /b.png 2x" style="background: url('/c.png')"></body></html>`,
    "assets/style.css": "@import '/assets/more.css'; a { background: url(../logo.svg) }",
    "assets/app.js": "import('/assets/chunk.js')",
    "logo.svg": "<svg/>",
  });
  assert.deepEqual(vitepress, {
    outside: [
      "index.html: /assets/style.css",
      "index.html: /assets/app.js",
      "index.html: /assets/inter.woff2",
      "index.html: /start.html",
      "index.html: /a.png",
      "index.html: /b.png",
      "index.html: /c.png",
      "assets/style.css: /assets/more.css",
    ],
    missing: [],
    isOtherBase: true,
  });
});

test("links below the page's own address, relative links, other sites and text that looks like links are fine", async () => {
  const fine = await find({
    "index.html": `<base target="_top"><a href="docs/">Docs</a><a href="docs/intro?x=1#top">Intro</a><a href="#top">Top</a>
      <link href="/p/guide/a%20b.css?v=2" rel=stylesheet><a href="https://other.example/x">Other</a><a href="//cdn.example/x.js">x</a>
      <a href="mailto:a@b.example">Mail</a><img src="data:image/gif;base64,AAAA"><a href="javascript:void 0">x</a>
      <!-- <img src="/no.png"> --><script>const a = '<img src="/no.png">';</script><textarea><img src="/no.png"></textarea>
      <p title="<img src='/no.png'>">x</p><a href="">Self</a><template><img src="/no.png"></template>`,
    "404.html": '<link href="/assets/a.css">',
    "docs/index.html": '<a href="../">Up</a><a href="./intro">Intro</a>',
    "docs/intro.html": "<base href='/p/guide/'><img src='pic.png'>",
    "a b.css": "",
    "pic.png": "",
  });
  assert.deepEqual(fine, { outside: [], missing: [], isOtherBase: false });
});

test("links to files that are missing, that leave the folder, or that a base moves away are found", async () => {
  const lost = await find({
    "index.html":
      '<img src="pic.png"><a href=about>x</a><img src="&#47;logo.svg"><iframe src="../up.html"></iframe><style>a { background: url( "&.png" ) }',
    "docs/index.html": '<base href="/"><img src="pic.png"><img src="https://page.invalid.example/x">',
    "docs/pic.png": "",
  });
  assert.deepEqual(lost, {
    outside: ["index.html: /logo.svg", "index.html: ../up.html", "docs/index.html: pic.png"],
    missing: ["index.html: pic.png", "index.html: about", "index.html: &.png"],
    isOtherBase: false,
  });
});

test("hostile files take linear time", async () => {
  for (const part of ["<script>", "<!--", "<a b='", 'url("', "<style>", 'a="<', "&#38;", "<a href=x "])
    await find({ "index.html": part.repeat(100_000), "a.css": part.repeat(100_000) });
});
