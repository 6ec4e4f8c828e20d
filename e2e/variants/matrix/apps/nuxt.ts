import { ITEMS_SOURCE, type MatrixApp } from "../matrix-app.ts";
import { serveByProgram } from "../serve-app.ts";

const SHOP = `<script setup>
import { onMounted, ref } from "vue";
${ITEMS_SOURCE}
const count = ref(1), isLate = ref(false), thanks = ref("");
onMounted(() => setTimeout(() => { isLate.value = true; }, 100));
const submit = (event) => { thanks.value = "Thanks " + event.target.elements.name.value; };
</script>
<template><main :class="'shop shop-' + count"><h1>Checkout</h1>
<p id="greeting" class="muted" style="color: red">Hello <b>you</b>, {{ count }} times</p>
<div class="actions"><button id="again" type="button" @click="count++">Pay {{ count }}</button><button id="more" type="button">More</button></div>
<ul id="list"><li v-for="item in itemsOf(count)" :key="item" class="item" :data-id="item"><span>{{ item }}</span> <i>{{ count }}</i></li></ul>
<section v-if="count > 0" class="summary"><h2>Total</h2><p>Total {{ count }}</p></section>
<p id="status" :class="'status status-' + count">Count {{ count }}</p>
<p v-if="isLate" class="late">Late</p>
<form id="form" @submit.prevent="submit"><input name="name"><button id="send">Send</button></form>
<p id="thanks">{{ thanks }}</p>
<NuxtLink id="leave" to="/other">Other</NuxtLink></main></template>`;

/** Nuxt's own production build with its client-side links. Its root is a Suspense boundary. */
export const nuxt: MatrixApp = {
  name: "Vue (Nuxt)",
  build: "`nuxt build`",
  shown: ["nuxt", "vue"],
  packages: { nuxt: "4.4.8", vue: "3.5.45", "vue-router": "5.5.1" },
  files: {
    "nuxt.config.mjs": `export default { compatibilityDate: "2026-01-01", telemetry: false, devtools: { enabled: false } };`,
    "app/app.vue": `<template><NuxtPage /></template>`,
    "app/pages/index.vue": SHOP,
    "app/pages/other.vue": `<template><div><h1>Other</h1><NuxtLink to="/">Back</NuxtLink></div></template>`,
  },
  commands: [["node_modules/nuxt/bin/nuxt.mjs", "build"]],
  start: (folder) => serveByProgram(folder, [".output/server/index.mjs"]),
};
