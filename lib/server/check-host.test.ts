import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { describe, test } from "node:test";
import { createHostCheck } from "./check-host.ts";
import { readEnv } from "./env.ts";

/** Checks requests with these `Host` headers, under these settings. */
function checkHosts(variables: Record<string, string>, hosts: string[]): Record<string, string> {
  const check = createHostCheck(readEnv(variables));
  const ask = (host: string) => check({ rawHeaders: ["Host", host], url: "/" } as IncomingMessage);
  return Object.fromEntries(hosts.map((host) => [host, ask(host)]));
}

describe("createHostCheck", () => {
  test("accepts loopback names with the service's port if the service listens on loopback", () => {
    const own = ["127.0.0.1:3000", "localhost:3000", "LOCALHOST:3000", "[::1]:3000"];
    const foreign = ["127.0.0.1", "localhost:3001", "rebound.example:3000", "agents.example"];
    assert.deepEqual(checkHosts({}, [...own, ...foreign]), {
      ...Object.fromEntries(own.map((host) => [host, "own"])),
      ...Object.fromEntries(foreign.map((host) => [host, "foreign"])),
    });
  });

  test("accepts BASE_URL, ALLOWED_HOSTS and loopback if the service is public", () => {
    const settings = {
      HOST: "0.0.0.0",
      BASE_URL: "https://agents.example",
      PUBLIC_PAGES_ORIGIN: "https://pages.example",
      ALLOWED_HOSTS: "service.internal, Other.Example:8443",
    };
    assert.deepEqual(
      checkHosts(settings, [
        "agents.example",
        "AGENTS.example:443",
        "127.0.0.1:3000",
        "service.internal",
        "SERVICE.internal:3000",
        "other.example:8443",
        "pages.example",
        "other.example",
        "agents.example:80",
        "evil.example",
        "agents.example.evil.example",
        "10.0.0.5:3000",
      ]),
      {
        "agents.example": "own",
        "AGENTS.example:443": "own",
        "127.0.0.1:3000": "own",
        "service.internal": "own",
        "SERVICE.internal:3000": "own",
        "other.example:8443": "own",
        "pages.example": "pages",
        "other.example": "foreign",
        "agents.example:80": "foreign",
        "evil.example": "foreign",
        "agents.example.evil.example": "foreign",
        "10.0.0.5:3000": "foreign",
      },
    );
  });

  test("readEnv rejects an entry of ALLOWED_HOSTS that is not a host", () => {
    for (const host of ["https://agents.example", "agents.example/path", "*"])
      assert.throws(() => readEnv({ ALLOWED_HOSTS: host }), /^Error: ALLOWED_HOSTS: /, host);
  });
});
