import { expect } from "@playwright/test";
import { createLink, embedding, frameUrl, openHost } from "./embed-host.ts";
import { expectAccessible } from "./expect-accessible.ts";
import { GREEN, goTo, script, toolsOf } from "./journey.ts";

embedding.use({ viewport: { width: 1280, height: 800 } });

embedding(
  "a frame on another site shows the live view and the conversation, and its person sends messages, without any cookie",
  async ({ page, context, sites, stage: { model, service, webPage } }) => {
    script(model, {
      "[look]": [goTo(webPage.url), { text: "It is **green**." }],
      "[more]": [{ text: "Answered in the frame." }],
    });
    const cookies: string[] = [];
    page.on("request", (request) => {
      const { cookie } = request.headers();
      if (cookie !== undefined) cookies.push(`${request.url()} ${cookie}`);
      expect(request.url()).not.toContain("key=");
    });
    const session = await service.create("[look] Look at it", {
      tools: { externalTurnExclude: ["elicit_user_input"] },
    });
    await service.completed(session.statusUrl);
    const frame = await openHost(page, sites.allowed, frameUrl(service, session.shareUrl));
    await expect(frame.getByRole("article", { name: "Agent" }).getByText("green")).toBeVisible();
    const canvas = frame.getByRole("img", { name: "Live view of the page" });
    await expect(canvas).toBeVisible();
    const color = () =>
      canvas.evaluate((element) => [
        ...((element as HTMLCanvasElement).getContext("2d")?.getImageData(600, 500, 1, 1).data.slice(0, 3) ??
          []),
      ]);
    await expect.poll(color).toEqual(GREEN);
    await frame.getByRole("textbox", { name: "Message to the agent" }).fill("[more] And now?");
    await frame.getByRole("button", { name: "Send" }).click();
    await expect(frame.getByText("Answered in the frame.")).toBeVisible();
    // A person typed the message, so the turn has the tools that others lack.
    const turn = model.requests.findLast(({ userText }) => userText.includes("[more]"));
    expect(toolsOf(turn)).toContain("elicit_user_input");
    expect(cookies).toEqual([]);
    expect(await context.cookies()).toEqual([]);
    // The host page cannot read the session.
    expect(await page.evaluate(() => document.querySelector("iframe")?.contentDocument ?? null)).toBeNull();
  },
);

embedding(
  "an origin that is not allowed shows nothing, and no other page of the service can be framed",
  async ({ page, sites, stage: { model, service }, cleanConsole }) => {
    cleanConsole.allow(/frame-ancestors|ERR_BLOCKED_BY_RESPONSE|Refused to frame|404/);
    script(model, { "[hello]": [{ text: "Hello." }] });
    const session = await service.create("[hello]");
    await service.completed(session.statusUrl);
    const sockets: string[] = [];
    page.on("websocket", (socket) => sockets.push(socket.url()));
    const refused = page.waitForEvent("requestfailed");
    const url = frameUrl(service, session.shareUrl);
    const frame = await openHost(page, sites.foreign, url);
    expect((await refused).failure()?.errorText).toBe("net::ERR_BLOCKED_BY_RESPONSE");
    await expect(frame.getByText("Hello.")).toHaveCount(0);
    expect(sockets).toEqual([]);
    for (const path of ["/", "/docs", `/s/${session.sessionId}`, "/login"]) {
      const { headers } = await service.call("GET", path, undefined, { authorization: "" });
      expect(headers.get("content-security-policy"), path).toContain("frame-ancestors 'none'");
    }
    const { headers } = await service.call("GET", new URL(url).pathname);
    expect(headers.get("content-security-policy")).toContain(
      `frame-ancestors ${sites.allowed.origin} https://www.example`,
    );
    // The server sends the same page to everybody: it does not say whether a session exists.
    const known = await service.call("GET", `/embed/${session.sessionId}`);
    const unknown = await service.call("GET", "/embed/ses_nobody");
    expect([known.status, unknown.status]).toEqual([200, 200]);
  },
);

embedding(
  "a link that names other origins shows nothing, and a wrong token says so",
  async ({ page, sites, stage: { model, service }, cleanConsole }) => {
    cleanConsole.allow(/404/);
    script(model, { "[hello]": [{ text: "Hello." }] });
    const session = await service.create("[hello]");
    await service.completed(session.statusUrl);
    const elsewhere = await createLink(service, session.sessionId, {
      role: "drive",
      embedOrigins: ["https://www.example"],
    });
    const sockets: string[] = [];
    page.on("websocket", (socket) => sockets.push(socket.url()));
    const refused = await openHost(page, sites.allowed, frameUrl(service, elsewhere.shareUrl));
    await expect(refused.getByText("This link may not be shown on this site.")).toBeVisible();
    expect(sockets).toEqual([]);
    const here = await createLink(service, session.sessionId, {
      role: "drive",
      embedOrigins: [sites.allowed.origin],
    });
    const shown = await openHost(page, sites.allowed, frameUrl(service, here.shareUrl));
    await expect(shown.getByText("Hello.")).toBeVisible();
    const wrong = await openHost(
      page,
      sites.allowed,
      `${service.baseUrl}/embed/${session.sessionId}#key=wrong`,
    );
    await expect(wrong.getByText("The link is wrong, was revoked, or has expired.")).toBeVisible();
    const unlisted = await service.call("POST", `/api/sessions/${session.sessionId}/share-links`, {
      role: "view",
      embedOrigins: ["https://evil.example"],
    });
    expect([unlisted.status, await unlisted.json()]).toEqual([
      400,
      {
        success: false,
        code: "invalid_request",
        error: "embedOrigins[0]: is not one of the service's EMBED_ORIGINS",
      },
    ]);
  },
);

for (const end of ["expires", "is revoked"] as const)
  embedding(
    `a token that ${end} while the frame is open ends the frame and its connection`,
    async ({ page, sites, stage: { model, service }, cleanConsole }) => {
      cleanConsole.allow(/404/);
      script(model, { "[hello]": [{ text: "Hello." }] });
      const session = await service.create("[hello]");
      await service.completed(session.statusUrl);
      // Long enough for a busy machine to open the frame.
      const expiresAt = new Date(Date.now() + 20_000).toISOString();
      const link = await createLink(service, session.sessionId, {
        role: "drive",
        ...(end === "expires" && { expiresAt }),
      });
      const socket = page.waitForEvent("websocket");
      const frame = await openHost(
        page,
        sites.allowed,
        frameUrl(service, link.shareUrl, "?view=conversation"),
      );
      await expect(frame.getByText("Hello.")).toBeVisible();
      const closed = (await socket).waitForEvent("close");
      if (end === "is revoked")
        await service.call("DELETE", `/api/sessions/${session.sessionId}/share-links/${link.id}`);
      await closed;
      await expect(frame.getByText("The link is wrong, was revoked, or has expired.")).toBeVisible();
      await expect(frame.getByText("Hello.")).toHaveCount(0);
    },
  );

embedding(
  "the liveViewUrl opens in a frame, read-only, without a cookie",
  async ({ page, context, sites, stage: { model, service, webPage } }) => {
    script(model, { "[look]": [goTo(webPage.url), { text: "Seen." }] });
    const session = await service.create("[look]");
    await service.completed(session.statusUrl);
    const { liveViewUrl } = await service.read<{ liveViewUrl: string }>(
      `/api/sessions/${session.sessionId}/browser`,
    );
    const frame = await openHost(page, sites.allowed, liveViewUrl);
    await expect(frame.getByRole("img", { name: "Live view of the page" })).toBeVisible();
    await expect(frame.getByRole("button", { name: "Take over" })).toHaveCount(0);
    await expect(frame.getByText("Seen.")).toHaveCount(0);
    expect(await context.cookies()).toEqual([]);
  },
);

embedding(
  "the page of a frame is accessible, wide and narrow, and its results open and close",
  async ({ page, stage: { model, service, webPage }, cleanConsole }) => {
    cleanConsole.allow(/404/);
    model.respondWith(({ kind, userText, answersSoFar }) => {
      if (kind === "structured") return { json: { title: "Green" } };
      return answersSoFar === 0 && userText.includes("[look]") ? goTo(webPage.url) : { text: "Looked." };
    });
    const session = await service.create("[look]", {
      outputSchema: { type: "object", properties: { title: { type: "string" } }, required: ["title"] },
    });
    await service.completed(session.statusUrl);
    for (const width of [1280, 360])
      for (const view of ["both", "live", "conversation"]) {
        await page.setViewportSize({ width, height: 640 });
        // With another query, because another fragment alone would not load the page.
        await page.goto(frameUrl(service, session.shareUrl, `?view=${view}&width=${width}`));
        const main = page.getByRole("main");
        if (view !== "live") await expect(main.getByText("Looked.")).toBeVisible();
        if (view === "live" || (view === "both" && width === 1280))
          await expect(main.getByRole("img", { name: "Live view of the page" })).toBeVisible();
        await expectAccessible(page, `the frame's ${view} at ${width} px`);
        const scrollWidth = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(scrollWidth).toBeLessThanOrEqual(width);
      }
    const line = page.getByRole("button", { name: /^Structured result/ });
    await line.press("Enter");
    await expect(page.getByRole("button", { name: "Back" })).toBeFocused();
    await expect(page.getByRole("tabpanel").getByText("Green")).toBeVisible();
    await expectAccessible(page, "the frame's results");
    await page.getByRole("button", { name: "Back" }).press("Enter");
    await expect(page.getByRole("tabpanel")).toHaveCount(0);
    await expect(line).toBeFocused();
    await page.goto(`${service.baseUrl}/embed/${session.sessionId}?none`);
    await expect(page.getByText("The link is wrong, was revoked, or has expired.")).toBeVisible();
    await expectAccessible(page, "a frame without a token");
  },
);
