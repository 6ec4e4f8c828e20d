import assert from "node:assert/strict";
import { test } from "node:test";
import { describeNetError } from "./explain-failure.ts";
import { describeLoadFailure } from "./load-failure.ts";

const URL = "https://shop.example/cart";
const kindOf = (reason: string) => describeLoadFailure(URL, reason)?.kind;

test("reasons of the guard and of the network have a kind", () => {
  assert.equal(kindOf("10.0.0.1 is a private address; name it in NETWORK_ALLOW to permit it"), "refused");
  assert.equal(kindOf("file is not an http(s) scheme"), "refused");
  assert.equal(kindOf("shop.example could not be resolved to an address"), "name");
  assert.equal(kindOf("shop.example refused the connection"), "connection");
  assert.equal(kindOf("shop.example did not answer in 30 s"), "connection");
  assert.equal(
    kindOf("no secure connection to shop.example could be made (CERT_HAS_EXPIRED)"),
    "certificate",
  );
  for (const [code, kind] of [
    ["net::ERR_NAME_NOT_RESOLVED", "name"],
    ["net::ERR_CONNECTION_RESET", "connection"],
    ["net::ERR_CERT_DATE_INVALID", "certificate"],
    ["net::ERR_TOO_MANY_REDIRECTS", "other"],
  ] as const)
    assert.equal(kindOf(describeNetError(code, URL)), kind);
});

test("a navigation that was stopped, or leads to no page, is no failure", () => {
  for (const reason of [
    "the navigation was stopped",
    "the navigation was interrupted",
    "the address is a download, not a page",
    "the address answered 204, which is no page",
  ])
    assert.equal(describeLoadFailure(URL, reason), undefined);
});
