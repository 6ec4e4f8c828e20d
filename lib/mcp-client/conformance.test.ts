import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";

const auth = (...names: string[]) => names.map((name) => `auth/${name}`);

/** Scenarios that the client does not pass, in both revisions for which the suite has a list of requirements. */
const UNSUPPORTED = [
  // A person signs in at the authorization server. The client only gets tokens for client credentials (decision 154).
  ...auth("metadata-default", "metadata-var1", "metadata-var2", "metadata-var3", "basic-cimd"),
  ...auth("scope-from-www-authenticate", "scope-from-scopes-supported", "scope-omitted-when-undefined"),
  ...auth("scope-step-up", "scope-retry-limit"),
  ...auth("token-endpoint-auth-basic", "token-endpoint-auth-post", "token-endpoint-auth-none"),
  // Extensions: client credentials with a signed assertion or a proof of possession, and tokens of an identity provider.
  ...auth(
    "client-credentials-jwt",
    "enterprise-managed-authorization",
    "dpop",
    "dpop-nonce",
    "wif-jwt-bearer",
  ),
  // Two of three checks pass. The third wants an input schema back as the server sent it, but the agent only sees what
  // model providers accept of a schema (decision 019).
  "json-schema-2020-12-preservation",
];
const EXCEPTIONS: Record<string, string[]> = {
  "2025-11-25": UNSUPPORTED,
  "2026-07-28": [
    ...UNSUPPORTED,
    // A person signs in, too.
    ...auth("resource-mismatch", "offline-access-scope", "offline-access-not-supported"),
    ...auth("authorization-server-migration", "iss-supported", "iss-not-advertised", "iss-supported-missing"),
    ...auth("iss-wrong-issuer", "iss-unexpected", "iss-normalized", "metadata-issuer-mismatch"),
  ],
};

const program = fileURLToPath(new URL("./conformance-client-testing.ts", import.meta.url));

/** Runs the suite. `baseline` names the scenarios that fail; a scenario that is named and passes is a failure. */
async function runSuite(options: string[], baseline: string[] = []): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "mcp-conformance-"));
  try {
    const suite = createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/dist/index.js");
    const command = `${process.execPath} --disable-warning=ExperimentalWarning ${program}`;
    const expected = join(folder, "baseline.yml");
    await writeFile(expected, `client:\n${baseline.map((name) => `  - ${name}\n`).join("")}`);
    const given = baseline.length > 0 ? ["--expected-failures", expected] : [];
    const child = spawn(process.execPath, [suite, "client", "--command", command, ...options, ...given], {
      cwd: folder,
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 180_000,
    });
    const ended = new Promise((resolve) => child.once("close", resolve));
    const [code, output, errors] = await Promise.all([ended, text(child.stdout), text(child.stderr)]);
    assert.equal(code, 0, output + errors);
    return output + errors;
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

describe("the official conformance suite finds nothing to object to in the client", () => {
  for (const [revision, unsupported] of Object.entries(EXCEPTIONS))
    it(`in all scenarios that ${revision} requires, except those that are named here`, async () => {
      const output = await runSuite(["--requirements", revision], unsupported);
      assert.match(output, /✓ tools_call: 2 passed, 0 failed/);
      assert.match(output, /✓ auth\/client-credentials-basic: \d passed, 0 failed/);
    });

  // The suite has no list of requirements for this revision. Of the older ones, it knows only how people sign in.
  for (const scenario of ["initialize", "tools_call"])
    it(`in the scenario ${scenario} of 2025-06-18`, async () => {
      const output = await runSuite(["--scenario", scenario, "--spec-version", "2025-06-18"]);
      assert.match(output, /Passed: [1-9]/);
    });
});
