import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { chromium } from "playwright-core";
import { CLIENT, startOidcProvider } from "#e2e/fixtures/oidc-provider.ts";
import { findTestChromium } from "#lib/browser/testing.ts";
import { createIdentityProvider } from "#lib/logins/identity-provider.ts";
import { type HttpTestService, openHttpTestService } from "../http-testing.ts";
import { signIn } from "../testing.ts";

let provider: Awaited<ReturnType<typeof startOidcProvider>>;
let service: HttpTestService;
let settings: Record<string, string>;
before(async () => {
  provider = await startOidcProvider();
  settings = {
    ENCRYPTION_KEY: Buffer.alloc(32, 1).toString("base64"),
    OIDC_ISSUER: provider.issuer,
    OIDC_CLIENT_ID: CLIENT.clientId,
    OIDC_CLIENT_SECRET: CLIENT.clientSecret,
    OIDC_ALLOW: "Ada@Example.com, sub:grace, unverified@example.com",
  };
  service = await openHttpTestService(settings);
  provider.serve(`${service.baseUrl}/login/oidc/callback`);
});
after(async () => {
  await service.close();
  await provider.close();
});

const cookiesOf = (response: Response) =>
  response.headers.getSetCookie().map((set) => set.split(";")[0] ?? "");
const get = (url: string | URL, cookie = "") =>
  fetch(url, { redirect: "manual", headers: { cookie, "user-agent": "Browser of the test" } });

/** Begins a sign-in. @returns the provider's URL, and the cookie with the secrets of this sign-in. */
async function begin() {
  const response = await get(`${service.baseUrl}/login/oidc`);
  assert.equal(response.status, 303);
  const [set = ""] = response.headers.getSetCookie();
  assert.match(set, /^oidc_login=[^;]+; Path=\/login\/oidc; HttpOnly; SameSite=Lax; Max-Age=600$/);
  return { url: response.headers.get("location") ?? "", cookie: set.split(";")[0] ?? "" };
}
/** Signs in. @returns the service's response to the redirect from the provider. */
async function signInAs(person: string): Promise<Response> {
  const { url, cookie } = await begin();
  return get(await provider.signIn(url, person), cookie);
}
const operatorOf = (response: Response) =>
  cookiesOf(response).find((pair) => pair.startsWith("operator=") && pair !== "operator=");
const loadPage = (cookie: string) => service.container.mounted.loadLandingPage(cookie);

describe("a sign-in with the identity provider", () => {
  test("signs an allowed account in, with PKCE, a state and a nonce", async () => {
    const response = await signInAs("ada");
    assert.equal(response.status, 200);
    assert.match(await response.text(), /http-equiv="refresh" content="0;url=\/"/);
    const [request] = provider.requests.slice(-1);
    assert.equal(request?.get("code_challenge_method"), "S256");
    for (const name of ["code_challenge", "state", "nonce"]) assert.ok(request?.get(name), name);
    assert.ok(cookiesOf(response).includes("oidc_login="), "the secrets of the sign-in are removed");

    const page = await loadPage(operatorOf(response) ?? "");
    assert.deepEqual(page.person, { kind: "operator" });
    const current = page.logins.find(({ isCurrent }) => isCurrent);
    assert.deepEqual(
      [current?.method, current?.account, current?.userAgent],
      ["oidc", "ada@example.com", "Browser of the test"],
    );
  });

  test("accepts a subject that OIDC_ALLOW names, and refuses other accounts and unverified addresses", async () => {
    assert.ok(operatorOf(await signInAs("grace")));
    for (const person of ["mallory", "unverified", "sub:grace", "Grace"]) {
      const response = await signInAs(person);
      assert.equal(response.headers.get("location"), "/?login=refused", person);
      assert.equal(operatorOf(response), undefined, person);
    }
  });

  test("fails with the state, code or cookie of another sign-in, and when it is repeated", async () => {
    const [mine, other] = [await begin(), await begin()];
    const back = await provider.signIn(mine.url, "ada");
    const changed = (name: string, value: string) => {
      const url = new URL(back);
      url.searchParams.set(name, value);
      return url;
    };
    const tries: [URL, string][] = [
      [back, other.cookie],
      [back, ""],
      [back, `${mine.cookie}x`],
      [changed("state", "x"), mine.cookie],
      [changed("code", "x"), mine.cookie],
      [changed("iss", "https://evil.example"), mine.cookie],
      [new URL(`${service.baseUrl}/login/oidc/callback?error=access_denied`), mine.cookie],
      [new URL(`${service.baseUrl}/login/oidc/callback`), mine.cookie],
    ];
    for (const [url, cookie] of tries) {
      const response = await get(url, cookie);
      assert.equal(response.headers.get("location"), "/?login=failed", `${url.search} ${cookie}`);
      assert.equal(operatorOf(response), undefined);
    }
    // The failed attempts did not send the valid code to the provider, so the code can still be used once.
    assert.ok(operatorOf(await get(back, mine.cookie)));
    assert.equal((await get(back, mine.cookie)).headers.get("location"), "/?login=failed");
  });

  test("checks the nonce of the ID token, and the provider checks the PKCE verifier", async () => {
    const client = createIdentityProvider(
      { ...CLIENT, issuer: provider.issuer, allow: [] },
      `${service.baseUrl}/login/oidc/callback`,
    );
    const finish = async (wrong: object) => {
      const { url, secrets } = await client.begin();
      const { search } = await provider.signIn(url.href, "ada");
      return client.finish(search, { ...secrets, ...wrong });
    };
    const account = { issuer: provider.issuer, subject: "ada", email: "ada@example.com" };
    assert.deepEqual(await finish({}), account);
    await assert.rejects(finish({ nonce: "x" }), ({ cause }: Error) => /nonce/.test(String(cause)));
    await assert.rejects(finish({ codeVerifier: "x".repeat(43) }));
  });

  test("is not used up by a HEAD request", async () => {
    const { url, cookie } = await begin();
    const back = await provider.signIn(url, "ada");
    await fetch(back, { method: "HEAD", redirect: "manual", headers: { cookie } });
    assert.ok(operatorOf(await get(back, cookie)));
  });

  test("leads the browser to the landing page as signed in", async () => {
    const { executablePath, args = [] } = findTestChromium();
    const browser = await chromium.launch({ executablePath, args: [...args, "--no-sandbox"] });
    try {
      const page = await browser.newPage();
      await page.goto(`${service.baseUrl}/login/oidc`);
      await page.locator("input").fill("ada");
      // Waits only for the browser's request for the landing page, because the test service serves no pages.
      const [landing] = await Promise.all([
        page.waitForRequest(`${service.baseUrl}/`),
        page.getByRole("button").click(),
      ]);
      const { cookie = "" } = await landing.allHeaders();
      assert.ok((await loadPage(cookie)).person, cookie);
    } finally {
      await browser.close();
    }
  });
});

describe("a provider that cannot be reached", () => {
  test("does not prevent the start of the service, and is contacted again at the next sign-in", async () => {
    const late = await startOidcProvider();
    const other = await openHttpTestService({ ...settings, OIDC_ISSUER: late.issuer });
    const start = () => get(`${other.baseUrl}/login/oidc`);
    assert.equal((await start()).headers.get("location"), "/?login=failed");
    late.serve(`${other.baseUrl}/login/oidc/callback`);
    assert.ok((await start()).headers.get("location")?.startsWith(`${late.issuer}/auth?`));
    await other.close();
    await late.close();
  });
});

describe("a service without an identity provider", () => {
  test("has no sign-in paths, and its earlier logins of the provider have ended", async () => {
    const { env } = service;
    const cookie = operatorOf(await signInAs("ada")) ?? "";
    const link = await signIn(service);
    const without = await openHttpTestService({
      ENCRYPTION_KEY: settings.ENCRYPTION_KEY ?? "",
      DATABASE_URL: env.DATABASE_URL ?? "",
      DATABASE_DRIVER: env.DATABASE_DRIVER ?? "",
      NEON_WSPROXY: env.NEON_WSPROXY ?? "",
    });
    for (const path of ["/login/oidc", "/login/oidc/callback?code=x&state=y"])
      assert.equal(
        await without.container.exchangeLinkForCookie({
          method: "GET",
          url: new URL(path, without.baseUrl),
          cookieHeader: null,
        }),
        undefined,
        path,
      );
    const load = without.container.mounted.loadLandingPage;
    assert.deepEqual(
      [(await load(cookie)).person, (await load(link)).person, (await load(link)).oidcPath],
      [null, { kind: "operator" }, null],
    );
    assert.equal((await loadPage(cookie)).oidcPath, "/login/oidc");
    await without.close();
  });
});
