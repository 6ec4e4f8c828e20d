import { readPackageFile } from "../build-app.ts";
import { ITEMS_SOURCE, type MatrixApp } from "../matrix-app.ts";
import { serveWith } from "../serve-app.ts";

const SHOP = `<main x-data="shop" :class="'shop shop-' + count" class="shop"><h1>Checkout</h1>
<p id="greeting" class="muted" style="color: red">Hello <b>you</b>, <span x-text="count">1</span> times</p>
<div class="actions"><button id="again" type="button" @click="count++" x-text="'Pay ' + count">Pay 1</button><button id="more" type="button">More</button></div>
<ul id="list"><template x-for="item in items" :key="item"><li class="item" :data-id="item"><span x-text="item"></span> <i x-text="count"></i></li></template></ul>
<section class="summary"><h2>Total</h2><p x-text="'Total ' + count">Total 1</p></section>
<p id="status" :class="'status-' + count" class="status" x-text="'Count ' + count">Count 1</p>
<template x-if="isLate"><p class="late">Late</p></template>
<form id="form" @submit.prevent="thanks = 'Thanks ' + name"><input name="name" x-model="name"><button id="send">Send</button></form>
<p id="thanks" x-text="thanks"></p>
<a id="leave" href="/other">Other</a></main>`;

const DATA = `${ITEMS_SOURCE}
document.addEventListener("alpine:init", () => Alpine.data("shop", () => ({
  count: 1, isLate: false, name: "", thanks: "",
  get items() { return itemsOf(this.count); },
  init() { setTimeout(() => { this.isLate = true; }, 100); },
})));`;

export const alpine: MatrixApp = {
  name: "Alpine",
  build: "the package's script, static HTML",
  shown: ["alpinejs"],
  packages: { alpinejs: "3.17.5" },
  files: {},
  async start(folder) {
    const script = await readPackageFile(folder, "alpinejs/dist/cdn.min.js");
    return serveWith(({ path }) => {
      if (path === "/alpine.js") return { body: script, type: "text/javascript" };
      if (path === "/data.js") return { body: DATA, type: "text/javascript" };
      const head = `<title>Shop</title><script defer src="/data.js"></script><script defer src="/alpine.js"></script>`;
      if (path === "/") return `<!doctype html><html><head>${head}</head><body>${SHOP}</body></html>`;
      if (path === "/other")
        return `<!doctype html><html><head>${head}</head><body><h1>Other</h1></body></html>`;
      return undefined;
    });
  },
};
