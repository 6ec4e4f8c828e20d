import { z } from "zod";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import { defineTool, errorResult, type Tool } from "#lib/tools/tool.ts";
import { DEFAULT_VARIANT, variantKeySchema } from "../document.ts";
import { type PublishResult, publishVariant } from "../publish-variant.ts";
import { writePinnedTag, writeScriptTag } from "../script-tag.ts";
import { explainUnknown } from "../show-for-picture.ts";
import { findRevision, listVariantKeys } from "../variant-store.ts";
import type { VariantToolServices } from "../variants-deps.ts";

/**
 * `publish_variant`: publishes the newest revision as a release.
 * Source: specification, Structured sessions; `architecture.md`, Publications.
 */
export const publishVariantTool = (services: VariantToolServices): Tool =>
  defineTool({
    name: "publish_variant",
    description:
      "Publishes the newest revision of a variant: pages that carry its script tag show it to all their visitors within a minute. Only for a revision whose check_variant passed (pass or warn; changes that were not examined must be accepted by a person or the caller), and only if the task asks for it. Returns the script tag and what the pages' content policies must allow.",
    input: z.strictObject({ variant: variantKeySchema.default(DEFAULT_VARIANT) }),
    idempotent: true,
    readOnly: false,
    changes: true,
    async execute({ variant }, call) {
      const { rootSessionId: sessionId, requestId, runId, callId } = call;
      const published = await publishVariant(services, {
        sessionId,
        variant,
        author: "agent",
        allowsUnchecked: false,
        requestId,
        runId,
        callId,
      });
      if (!published.ok)
        return errorResult(`publish_variant: ${await explain(services, sessionId, variant, published)}`);
      const revision = await findRevision(services.db, sessionId, variant, published.publication.revision);
      const warnings = (revision?.check?.findings ?? []).filter(({ code }) => code === "csp_blocks_script");
      const blocked = warnings.map(({ url, message }) => `- ${url}: ${message}`);
      return describePublished(published, blocked);
    },
  });

const RECHECK = "Run check_variant, correct what it finds, and publish then.";

/** What the agent can do after a refusal, by its reason. */
const ADVICE: Partial<Record<Extract<PublishResult, { ok: false }>["reason"], string>> = {
  unchecked: RECHECK,
  failed: RECHECK,
  unaccepted:
    "You cannot accept this yourself. Tell the person what was not examined and why, and ask them to accept it in the check on the session page; a caller accepts with POST …/accept. Or change the variant so that the check can examine it. Publish then.",
};

async function explain(
  { db }: VariantToolServices,
  sessionId: string,
  variant: string,
  { reason, problem }: Extract<PublishResult, { ok: false }>,
): Promise<string> {
  if (reason === "unknown") return explainUnknown(variant, await listVariantKeys(db, sessionId));
  const advice = ADVICE[reason];
  return advice === undefined ? `${problem}.` : `${problem}. ${advice}`;
}

function describePublished(
  { isNew, publication, summary }: Extract<PublishResult, { ok: true }>,
  warnings: string[],
): string {
  const { number, revision } = publication;
  const lines = [
    isNew
      ? `Published release ${number} of variant ${summary.key}: revision ${revision}.`
      : `Revision ${revision} of variant ${summary.key} is published already, as release ${number}.`,
    "Pages show it to their visitors once they carry this tag in their head:",
    writeScriptTag(publication),
    "Pinned to this release, with an integrity hash:",
    writePinnedTag(publication),
  ];
  if (warnings.length > 0)
    lines.push(
      "These pages block the script until their content policy allows it:",
      quoteAsData("the check", warnings.join("\n")),
    );
  lines.push(
    `Tell people the tag${warnings.length > 0 ? " and what their content policy must allow" : ""}. A person can roll back or unpublish on the session page.`,
  );
  return lines.join("\n");
}
