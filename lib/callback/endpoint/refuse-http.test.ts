import assert from "node:assert/strict";
import { test } from "node:test";
import { createHttpRefusal } from "./refuse-http.ts";

test("http is accepted by default, as the specification demands", () => {
  const refuse = createHttpRefusal("allow", []);
  for (const url of ["http://hooks.example/in", "https://hooks.example/in"])
    assert.equal(refuse(new URL(url)), undefined, url);
});

test("CALLBACK_HTTP=refuse allows https, and http only to hosts in NETWORK_ALLOW", () => {
  const refuse = createHttpRefusal("refuse", ["127.0.0.1:4567", "hooks.internal", "10.0.0.0/8"]);
  for (const url of [
    "https://hooks.example/in",
    "http://127.0.0.1:4567/hook",
    "http://HOOKS.internal./in",
    "http://10.1.2.3:81/in",
  ])
    assert.equal(refuse(new URL(url)), undefined, url);
  for (const url of ["http://hooks.example/in", "http://127.0.0.1:4568/hook", "http://11.0.0.1/in"])
    assert.match(refuse(new URL(url)) ?? "accepted", /^must be https, because CALLBACK_HTTP=refuse/, url);
});
