import assert from "node:assert/strict";
import { mkdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { landingPageBlobs, landingPages, landingPageVersions } from "#db/schema/index.ts";
import { listToolsRequest } from "../mcp-server/list-tools-request.ts";
import { OTHER_KEY, openTestService, type TestService } from "../testing.ts";
import { playTurn, readOffered, step } from "../variants/variants-testing.ts";
import {
  deploy,
  deployFiles,
  type Files,
  listPages,
  openSession,
  readEvents,
  workspaceOf,
  writeFolder,
} from "./pages-testing.ts";

let service: TestService;
before(async () => {
  service = await openTestService();
});
after(() => service.close());

const INDEX = { "index.html": "<!doctype html><title>Sale</title><h1>Sale</h1>" };
const other = { authorization: `Bearer ${OTHER_KEY}` };

/** Creates a session that belongs to the other owner. */
async function openOther() {
  const body = { messages: [{ role: "user", parts: [{ type: "text", text: "x" }] }] };
  return (await (await service.call("POST", "/api/session", body, other)).json()) as {
    sessionId: string;
    requestId: string;
    runId: string;
  };
}

describe("deploy_landing_page in a turn", () => {
  it("deploys the agent's files, and the outcome, the status and the events name the page", async () => {
    const write = (path: string, content: string) => step("write_file", { path, content });
    const { session, results } = await playTurn(service, [
      write("Spring Sale/index.html", "<h1>Sale</h1>"),
      step("deploy_landing_page", { folder: "Spring Sale", note: "First draft" }),
      write("Spring Sale/style.css", "h1 { color: teal }"),
      step("deploy_landing_page", { folder: "Spring Sale/" }),
    ]);
    assert.match(
      results[1] ?? "",
      /^Deployed version 1 of spring-sale-[0-9a-f]{10}: 1 file, 13 bytes\.\nhttp:\/\/127\.0\.0\.1:\d+\/p\/spring-sale-[0-9a-f]{10}\/\nBrowsers run the page in a sandbox/,
    );
    assert.match(results[3] ?? "", /^Deployed version 2 of spring-sale-[0-9a-f]{10}: 2 files, 31 bytes\./);
    const [page, ...more] = await listPages(service, session.sessionId);
    assert.deepEqual(more, []);
    assert.ok(page);
    assert.deepEqual(
      [page.version, page.newestVersion, page.files, page.bytes, page.note],
      [2, 2, 2, 31, null],
    );
    assert.ok(results[3]?.includes(page.url));
    const deployed = await readEvents(service, session.sessionId, "page.deployed");
    assert.deepEqual(
      deployed.map(({ page, runId }) => [page.version, page.note, runId]),
      [
        [1, "First draft", session.runId],
        [2, null, session.runId],
      ],
    );
    const [completed] = await readEvents(service, session.sessionId, "run.completed");
    assert.deepEqual(completed.pages, [page]);
    const status = await service.read(`/api/sessions/${session.sessionId}/agent/status`);
    assert.deepEqual(status.pages, [page]);
  });

  it("is offered to editing sessions, and to structured ones that include it, whose outcome then has pages", async () => {
    const schema = { type: "object", properties: { title: { type: "string" } }, required: ["title"] };
    const plain = await playTurn(service, [], { outputSchema: schema });
    assert.ok(!readOffered(service).includes("deploy_landing_page"));
    const [bare] = await readEvents(service, plain.session.sessionId, "run.completed");
    assert.equal("pages" in bare, false);
    const { session } = await playTurn(
      service,
      [
        step("write_file", { path: "site/index.html", content: "<h1>Sale</h1>" }),
        step("deploy_landing_page", { folder: "site" }),
      ],
      { outputSchema: schema, tools: { include: ["deploy_landing_page"] } },
    );
    const [completed] = await readEvents(service, session.sessionId, "run.completed");
    assert.equal(completed.pages.length, 1);
  });

  it("is not offered to sessions without a sandbox or to holders of MCP tokens", async () => {
    await playTurn(service, [], { capabilities: { browser: false, sandbox: false } });
    assert.ok(!readOffered(service).includes("deploy_landing_page"));
    const { session } = await playTurn(service, []);
    const created = await service.call("POST", `/api/sessions/${session.sessionId}/mcp-token`);
    const { token, url } = (await created.json()) as { token: string; url: string };
    const { headers, ...init } = listToolsRequest(token);
    const request = new Request(url, { ...init, headers: { ...headers, host: new URL(url).host } });
    const listed = await (await service.container.mounted.serveMcp(request)).text();
    assert.match(listed, /write_file/);
    assert.doesNotMatch(listed, /deploy_landing_page/);
  });

  it("names links that lead to no file of the page", async () => {
    const session = await openSession(service);
    const built = '<script type="module" src="/assets/app.js"></script><img src="logo.png">';
    const files = { "index.html": built, "assets/app.js": "" };
    const { text } = await deployFiles(service, files, { slug: "built-docs" }, session);
    assert.match(
      text,
      /lead out of the page: [\s\S]*"\/assets\/app\.js" in index\.html\n<[\s\S]*built for the root of a site\..*\/p\/built-docs\/ \(VitePress/,
    );
    assert.match(text, /no such file: [\s\S]*"logo\.png" in index\.html/);
    const fixed = {
      ...files,
      "index.html": built.replace("/assets", "/p/built-docs/assets"),
      "logo.png": "",
    };
    const again = await deployFiles(service, fixed, { slug: "built-docs" }, session);
    assert.match(again.text, /^Deployed version 2 /);
    assert.doesNotMatch(again.text, /Not found/);
  });
});

describe("page versions", () => {
  it("are created once per call, also if the folder has changed, and not for unchanged content", async () => {
    const { session, page } = await deployFiles(service, INDEX);
    await writeFolder(service, session.sessionId, "site", { ...INDEX, "a.txt": "a" });
    const first = await deploy(service, session, { folder: "site" }, "call_repeated");
    await writeFolder(service, session.sessionId, "site", { "b.txt": "b" });
    const again = await deploy(service, session, { folder: "site" }, "call_repeated");
    assert.match(first.text, /^Deployed version 2 /);
    assert.equal(again.text, first.text);
    await writeFolder(service, session.sessionId, "site", { ...INDEX, "a.txt": "a" });
    const equal = await deploy(service, session, { folder: "site" });
    assert.match(equal.text, /^Version 2 of .* has exactly these files already \(2 files, \d+ bytes\)/);
    assert.equal((await readEvents(service, session.sessionId, "page.deployed")).length, 2);
    assert.equal((await listPages(service, session.sessionId))[0]?.newestVersion, 2);
    const unpublished = await service.call("POST", `/api/pages/${page.slug}/unpublish`);
    assert.equal(((await unpublished.json()) as { page: { version: null } }).page.version, null);
    const restored = await deploy(service, session, { folder: "site" });
    assert.match(restored.text, /^Version 2 of .* and is served again\./);
    assert.equal((await listPages(service, session.sessionId))[0]?.version, 2);
  });

  it("are rolled back, unpublished and published again by the API and by a person", async () => {
    const { session, page } = await deployFiles(service, INDEX, { note: "one" });
    await deployFiles(service, { "index.html": "two" }, { note: "two" }, session);
    const { slug } = page;
    const post = async (path: string, body?: unknown) => {
      const answer = await service.call("POST", `/api/pages/${slug}/${path}`, body);
      return (await answer.json()) as { page?: { version: number | null; note: string }; error?: string };
    };
    assert.deepEqual((await post("rollback", { version: 1 })).page?.note, "one");
    assert.equal((await post("rollback", { version: 1 })).page?.version, 1);
    assert.match((await post("rollback", { version: 3 })).error ?? "", /^version: is not a version/);
    assert.match((await post("rollback", { version: 0 })).error ?? "", /^version: must be the number/);
    assert.equal((await post("unpublish")).page?.version, null);
    const versions = await service.read<{ data: { number: number; isCurrent: boolean }[] }>(
      `/api/pages/${slug}/versions`,
    );
    assert.deepEqual(
      versions.data.map(({ number, isCurrent }) => [number, isCurrent]),
      [
        [2, false],
        [1, false],
      ],
    );
    const token = new URL(session.shareUrl, service.env.baseUrl).searchParams.get("key");
    const person = { authorization: "", cookie: `share=${token}`, origin: service.env.baseUrl };
    const own = `/s/${session.sessionId}/actions/pages/${slug}`;
    assert.equal((await service.call("POST", `${own}/rollback`, { version: 2 }, person)).status, 200);
    assert.equal((await listPages(service, session.sessionId))[0]?.version, 2);
    const viewer = await service.call("POST", `/api/sessions/${session.sessionId}/share-links`, {
      role: "view",
    });
    const { shareUrl } = (await viewer.json()) as { shareUrl: string };
    const key = new URL(shareUrl, service.env.baseUrl).searchParams.get("key");
    const watching = { ...person, cookie: `share=${key}` };
    assert.equal((await service.call("GET", `${own}/versions`, undefined, watching)).status, 200);
    assert.equal((await service.call("POST", `${own}/unpublish`, undefined, watching)).status, 403);
    assert.equal((await listPages(service, session.sessionId))[0]?.version, 2);
    assert.equal((await service.call("POST", `${own}/unpublish`, undefined, person)).status, 200);
    const updated = await readEvents(service, session.sessionId, "page.updated");
    assert.deepEqual(
      updated.map(({ page }) => page.version),
      [1, null, 2, null],
    );
    // The session page of another session cannot change this landing page.
    const stranger = await openSession(service);
    const strange = new URL(stranger.shareUrl, service.env.baseUrl).searchParams.get("key");
    const elsewhere = `/s/${stranger.sessionId}/actions/pages/${slug}/rollback`;
    const refused = await service.call(
      "POST",
      elsewhere,
      { version: 1 },
      { ...person, cookie: `share=${strange}` },
    );
    assert.equal(refused.status, 404);
  });

  it("beyond the limit are removed with the contents that only they use; the current one stays", async () => {
    const { session, page } = await deployFiles(service, {
      "index.html": "shared",
      "v.txt": "version 1 alone",
    });
    for (let number = 2; number <= 52; number += 1)
      await deployFiles(service, { "index.html": "shared", "v.txt": `version ${number} alone` }, {}, session);
    const { data } = await service.read<{ data: { number: number }[] }>(`/api/pages/${page.slug}/versions`);
    assert.deepEqual([data.length, data[0]?.number, data.at(-1)?.number], [50, 52, 3]);
    const { db } = service.container.services;
    const contents = (await db.select().from(landingPageBlobs)).map(({ content }) =>
      Buffer.from(content).toString(),
    );
    assert.ok(!contents.includes("version 1 alone") && !contents.includes("version 2 alone"));
    assert.ok(contents.includes("version 3 alone"));
    assert.equal(contents.filter((text) => text === "shared").length, 1);
    const rolled = await service.call("POST", `/api/pages/${page.slug}/rollback`, { version: 2 });
    assert.equal(rolled.status, 400);
  });

  it("are stored together with their event or not at all", async () => {
    const session = await openSession(service);
    await writeFolder(service, session.sessionId, "site", { "index.html": "never stored" });
    const { landing, db } = service.container.services;
    const { transact } = landing.log;
    landing.log.transact = (id, work) =>
      transact(id, async (tx, emit) => {
        await work(tx, emit);
        throw new Error("the process ended before the commit");
      });
    try {
      await assert.rejects(deploy(service, session, { folder: "site" }, "call_cut"), /before the commit/);
    } finally {
      landing.log.transact = transact;
    }
    assert.deepEqual(await listPages(service, session.sessionId), []);
    const contents = await db.select().from(landingPageBlobs);
    assert.ok(!contents.some(({ content }) => Buffer.from(content).toString() === "never stored"));
    assert.equal((await deploy(service, session, { folder: "site" }, "call_cut")).isError, false);
    assert.equal((await readEvents(service, session.sessionId, "page.deployed")).length, 1);
  });
});

describe("slugs", () => {
  it("belong to an owner, all of whose sessions may update the page, and no other owner", async () => {
    const { session, page } = await deployFiles(service, INDEX, { slug: "owned" });
    const second = await openSession(service);
    await writeFolder(service, second.sessionId, "site", { "index.html": "by the second" });
    assert.match(
      (await deploy(service, second, { folder: "site", slug: "owned" })).text,
      /version 2 of owned/,
    );
    assert.deepEqual(await listPages(service, session.sessionId), []);
    assert.equal((await listPages(service, second.sessionId))[0]?.slug, page.slug);
    const foreign = await openOther();
    await writeFolder(service, foreign.sessionId, "site", INDEX);
    const refused = await deploy(service, foreign, { folder: "site", slug: "owned" });
    assert.equal(
      refused.text,
      "deploy_landing_page: slug: owned is taken; choose another one, or leave it out. Nothing was deployed.",
    );
    for (const [method, path] of [
      ["GET", ""],
      ["GET", "/versions"],
      ["POST", "/unpublish"],
    ] as const)
      assert.equal((await service.call(method, `/api/pages/owned${path}`, undefined, other)).status, 404);
    const listed = await service.call("GET", "/api/pages", undefined, other);
    assert.ok(!JSON.stringify(await listed.json()).includes("owned"));
    const { data } = await service.read<{ data: { slug: string; sessionId: string }[] }>(
      "/api/pages?limit=1",
    );
    assert.equal(data.length, 1);
  });

  it("go to one of two owners that race for one, and the page has no version of the other", async () => {
    const mine = await Promise.all(Array.from({ length: 4 }, () => openSession(service)));
    const theirs = await Promise.all(Array.from({ length: 4 }, openOther));
    const all = [...mine, ...theirs];
    for (const { sessionId } of all)
      await writeFolder(service, sessionId, "site", { "index.html": sessionId, "same.txt": "same" });
    const results = await Promise.all(
      all.map((session) => deploy(service, session, { folder: "site", slug: "raced" })),
    );
    const won = results.map(({ isError }) => !isError);
    const isMine = won[0];
    assert.deepEqual(won, [...Array(4).fill(isMine), ...Array(4).fill(!isMine)]);
    const { db } = service.container.services;
    const numbers = (await db.select().from(landingPageVersions))
      .filter(({ slug }) => slug === "raced")
      .map(({ number }) => number)
      .sort();
    assert.deepEqual(numbers, [1, 2, 3, 4]);
    const owners = (await db.select().from(landingPages)).filter(({ slug }) => slug === "raced");
    assert.deepEqual(
      owners.map(({ ownerId }) => ownerId),
      [isMine ? "owner" : "other"],
    );
  });

  it("are refused if they are malformed", async () => {
    const session = await openSession(service);
    for (const slug of ["", "-a", "A", "a b", "../x", "a/b", "a".repeat(64), "ä", "a\0"])
      await assert.rejects(deploy(service, session, { folder: "site", slug }), /must be 1 to 63 lowercase/);
  });
});

describe("folders of a deploy", () => {
  const megabyte = new Uint8Array(1_048_576);
  const many = Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`f${index}.txt`, "x"]));
  const large = Object.fromEntries(
    Array.from({ length: 25 }, (_, index) => [`f${index}.bin`, megabyte]),
  ) as Files;
  const REFUSED: [string, Files, RegExp, ((root: string) => Promise<unknown>)?][] = [
    ["no index.html", { "page.html": "x" }, /site has no index\.html; a page needs one/],
    ["an index.html further down", { "dist/index.html": "x" }, /site has no index\.html/],
    ["1,000 files", { ...INDEX, ...many }, /site has too many files; a page may have 500\. Deploy/],
    ["too many bytes", { ...INDEX, ...large }, /the files have 25\.0 MiB; a page may have 20\.0 MiB/],
    [
      "a file of 11 MiB",
      { ...INDEX, "big.bin": new Uint8Array(11 * 1_048_576) },
      /"big\.bin" has 11\.0 MiB; a file of a page may have 10\.0 MiB/,
    ],
    [
      "names that differ in case",
      { ...INDEX, "a/Logo.png": "x", "a/logo.PNG": "y" },
      /"a\/Logo\.png" and "a\/logo\.PNG" differ only in upper and lower case/,
    ],
    ["a line break in a name", { ...INDEX, "a\nb.txt": "x" }, /"a\\x0ab\.txt" has a control character/],
    ["a backslash in a name", { ...INDEX, "a\\b.txt": "x" }, /has a control character, a backslash/],
    ["a long path", { ...INDEX, [`${"d/".repeat(150)}x`]: "x" }, /is longer than 300 characters/],
    [
      "a link inside the folder",
      INDEX,
      /"again\.html" is a symbolic link/,
      (root) => symlink("index.html", join(root, "again.html")),
    ],
    [
      "a link out of the workspace",
      INDEX,
      /"passwd" is a symbolic link/,
      (root) => symlink("/etc/passwd", join(root, "passwd")),
    ],
    ["a linked folder", INDEX, /"etc" is a symbolic link/, (root) => symlink("/etc", join(root, "etc"))],
  ];

  for (const [title, files, problem, plant] of REFUSED) {
    it(`are refused with a sentence, and nothing changes: ${title}`, async () => {
      const session = await openSession(service);
      const root = await writeFolder(service, session.sessionId, "site", files);
      await plant?.(root);
      const { db } = service.container.services;
      const before = await db.select().from(landingPages);
      const { isError, text } = await deploy(service, session, { folder: "site" });
      assert.equal(isError, true);
      assert.match(text, problem);
      assert.match(text, /^deploy_landing_page: .*\. Nothing was deployed\.$/s);
      assert.deepEqual(await db.select().from(landingPages), before);
      assert.deepEqual(await readEvents(service, session.sessionId, "page.deployed"), []);
    });
  }

  const PATHS: [string, RegExp][] = [
    [".", /folder: must be a folder inside the workspace, not the workspace itself/],
    ["..", /folder: must not contain "\.\."\. Nothing was deployed\.$/],
    ["site/../../x", /folder: must not contain "\.\."\. Nothing was deployed\.$/],
    ["/etc", /folder: must be relative to the workspace/],
    ["C:\\x", /folder: must be relative to the workspace/],
    ["missing", /folder: missing does not exist in the workspace/],
    ["site/index.html", /folder: site\/index\.html is not a folder/],
    ["linked", /folder: linked is a symbolic link/],
    ["linked/deeper", /folder: linked is a symbolic link/],
    [".git", /folder: \.git is hidden/],
    ["a\0b", /folder: must not contain NUL/],
    ["x".repeat(2_000), /folder: must be at most 1024 characters/],
  ];
  it("are refused outside of the workspace, behind symbolic links and if hidden", async () => {
    const session = await openSession(service);
    await writeFolder(service, session.sessionId, "site", { ...INDEX, "deeper/index.html": "x" });
    const root = await workspaceOf(service, session.sessionId);
    await symlink("site", join(root, "linked"));
    await mkdir(join(root, ".git"));
    for (const [folder, problem] of PATHS) {
      const { isError, text } = await deploy(service, session, { folder });
      assert.equal(isError, true, folder);
      assert.match(text, problem);
    }
    assert.deepEqual(await listPages(service, session.sessionId), []);
  });

  it("are deployed without their hidden files, which the answer names", async () => {
    const session = await openSession(service);
    const root = await writeFolder(service, session.sessionId, "site", {
      ...INDEX,
      ".env": "SECRET=1",
      ".git/config": "x",
      "assets/.DS_Store": "x",
      "assets/a.css": "a {}",
    });
    await symlink("/etc/passwd", join(root, ".hidden-link"));
    await writeFile(join(root, ".git/index"), "x");
    const { text } = await deploy(service, session, { folder: "site" });
    assert.match(
      text,
      /Left out because hidden files are not published: "\.env", "\.git", "\.hidden-link", "assets\/\.DS_Store"\./,
    );
    assert.equal((await listPages(service, session.sessionId))[0]?.files, 2);
    const { db } = service.container.services;
    const contents = await db.select().from(landingPageBlobs);
    assert.ok(!contents.some(({ content }) => Buffer.from(content).toString().includes("SECRET")));
  });
});

describe("the deletion of a session", () => {
  it("keeps and names its published page, and removes its unpublished one", async () => {
    const { session, page } = await deployFiles(service, INDEX, { slug: "stays" });
    await writeFolder(service, session.sessionId, "draft", { "index.html": "the draft alone" });
    await deploy(service, session, { folder: "draft", slug: "goes" });
    await service.call("POST", "/api/pages/goes/unpublish");
    const deleted = await service.call("DELETE", `/api/sessions/${session.sessionId}`);
    const { pages } = (await deleted.json()) as { pages: unknown };
    assert.deepEqual(pages, [{ slug: "stays", url: page.url }]);
    const stored = await service.read<{ page: { sessionId: null; version: number } }>("/api/pages/stays");
    assert.deepEqual([stored.page.sessionId, stored.page.version], [null, 1]);
    assert.equal((await service.call("GET", "/api/pages/goes")).status, 404);
    const contents = await service.container.services.db.select().from(landingPageBlobs);
    assert.ok(!contents.some(({ content }) => Buffer.from(content).toString() === "the draft alone"));
    const unpublished = await service.call("POST", "/api/pages/stays/unpublish");
    assert.equal(unpublished.status, 200);
    // Another session of the same owner may deploy the next version.
    const next = await deployFiles(service, { "index.html": "next" }, { slug: "stays" });
    assert.equal(next.page.version, 2);
  });
});
