import assert from "node:assert/strict";
import { test } from "node:test";
import { findUnavailability, type Unavailability } from "./unavailability.ts";

const withCode = (code: string, message = "failed") => Object.assign(new Error(message), { code });

const cases: [name: string, error: unknown, reason: Unavailability | undefined][] = [
  ["connection exception", withCode("08000"), "out of reach"],
  ["connection does not exist", withCode("08003"), "out of reach"],
  ["connection failure", withCode("08006"), "out of reach"],
  ["protocol violation", withCode("08P01"), "out of reach"],
  ["admin shutdown", withCode("57P01"), "out of reach"],
  ["crash shutdown", withCode("57P02"), "out of reach"],
  ["starting up or shutting down", withCode("57P03"), "out of reach"],
  ["database dropped", withCode("57P04"), "out of reach"],
  ["idle session timeout", withCode("57P05"), "out of reach"],
  ["reset in the middle of a query", withCode("ECONNRESET", "read ECONNRESET"), "out of reach"],
  ["refused", withCode("ECONNREFUSED"), "out of reach"],
  [
    "the embedded server's socket is missing",
    Object.assign(withCode("ENOENT"), { syscall: "connect" }),
    "out of reach",
  ],
  ["broken pipe", withCode("EPIPE"), "out of reach"],
  ["no such host", withCode("ENOTFOUND"), "out of reach"],
  ["every address refused", new AggregateError([withCode("ECONNREFUSED")]), "out of reach"],
  ["pg: ended", new Error("Connection terminated unexpectedly"), "out of reach"],
  [
    "pg: broken client",
    new Error("Client has encountered a connection error and is not queryable"),
    "out of reach",
  ],
  ["pg: closed client", new Error("Client was closed and is not queryable"), "out of reach"],
  ["pg: pool timeout", new Error("timeout exceeded when trying to connect"), "out of reach"],
  ["insufficient resources", withCode("53000"), "overloaded"],
  ["disk full", withCode("53100"), "disk full"],
  ["out of memory", withCode("53200"), "overloaded"],
  ["too many connections", withCode("53300"), "overloaded"],
  ["configuration limit", withCode("53400"), "overloaded"],
  ["no space left on device", withCode("ENOSPC"), "disk full"],
  ["disk quota", withCode("EDQUOT"), "disk full"],
  ["read-only transaction", withCode("25006"), "read-only"],
  ["read-only file system", withCode("EROFS"), "read-only"],
  ["wrapped by the query builder", new Error("Failed query", { cause: withCode("57P01") }), "out of reach"],
  ["unique violation", withCode("23505"), undefined],
  ["deadlock", withCode("40P01"), undefined],
  ["statement canceled", withCode("57014"), undefined],
  ["syntax error", withCode("42601"), undefined],
  ["a bug", new TypeError("x is undefined"), undefined],
  ["no error at all", "57P01", undefined],
];

for (const [name, error, reason] of cases)
  test(`${name}: ${reason ?? "not an unavailable database"}`, () => {
    assert.equal(findUnavailability(error), reason);
  });
