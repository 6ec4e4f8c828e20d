import assert from "node:assert/strict";
import { after, test } from "node:test";
import { sessions } from "#db/schema/index.ts";
import { openTestDatabase, sessionRow } from "#db/testing.ts";
import type { VariantsDeps } from "../variants-deps.ts";
import { variantHelpers } from "./script-helpers.ts";

const { db, close } = await openTestDatabase();
after(close);

const tools = { include: [], exclude: [], externalTurnExclude: [], approve: ["apply_variant"] };
await db.insert(sessions).values({ ...sessionRow({ id: "ses_gated" }), tools });

test("page.applyVariant changes nothing if apply_variant needs approval and no person can be asked", async () => {
  // The cast is safe: a refused call uses the database only.
  const helpers = variantHelpers({ db } as VariantsDeps)?.({
    sessionId: "ses_gated",
    browserSessionId: "ses_gated",
    rootSessionId: "ses_gated",
    requestId: null,
    runId: null,
    callId: "call_a",
    mayAskPeople: true,
    hasTool: () => true,
    signal: new AbortController().signal,
  });
  const change = { op: "setText", selector: "h1", text: "Hello" };
  await assert.rejects(async () => helpers?.applyVariant?.([change], {}), {
    message:
      "page.applyVariant: nothing was changed, because apply_variant needs a person's approval, and no person can be asked. Do not call it again.",
  });
});
