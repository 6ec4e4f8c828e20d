import { z } from "zod";
import { isSlug, PAGES_FOLDER } from "#lib/publication/landing/page-address.ts";
import { isWorkspaceError } from "#lib/sandbox/workspace-error.ts";
import { countOf } from "#lib/text/count-of.ts";
import { shorten } from "#lib/text/shorten.ts";
import { quoteAsData } from "#lib/tools/quote-as-data.ts";
import { defineTool, errorResult, type Tool, textResult } from "#lib/tools/tool.ts";
import { deployPage, findDeployed } from "./deploy-page.ts";
import { findLostLinks, type LostLinks } from "./find-lost-links.ts";
import type { LandingToolServices } from "./landing-deps.ts";
import { readFolder } from "./read-folder.ts";

const NOTE_CHARACTERS_MAX = 500;
const HIDDEN_SHOWN_MAX = 5;
const LINKS_SHOWN_MAX = 8;
const LINK_CHARACTERS_MAX = 200;
/** Long enough to read 500 files from a remote workspace. */
const TIMEOUT_MS = 180_000;

const inputSchema = z.strictObject({
  folder: z
    .string()
    .min(1)
    .describe("folder of the workspace with the built page; it needs an index.html and relative links"),
  slug: z
    .string()
    .refine(isSlug, {
      error: "must be 1 to 63 lowercase letters, digits and hyphens, and begin with a letter or digit",
    })
    .optional()
    .describe("the page's name in its URL; left out, the folder's page is updated or a new one is made"),
  note: z.string().max(NOTE_CHARACTERS_MAX).optional().describe("what is new, for people"),
});

/** `deploy_landing_page`: publishes static files of the workspace at `/p/<slug>/`. Source: `wire.md`, Landing pages. */
export const deployLandingPage = (services: LandingToolServices): Tool =>
  defineTool({
    name: "deploy_landing_page",
    description:
      "Publishes a workspace folder of static files (HTML, CSS, JavaScript, images, fonts) as a public page, at once. Only if the task asks for it. Deploying the folder again updates the same page. Returns its URL.",
    input: inputSchema,
    idempotent: true,
    readOnly: false,
    changes: true,
    timeoutMs: TIMEOUT_MS,
    async execute({ folder, slug, note = null }, call) {
      const { rootSessionId: sessionId, requestId, runId, callId } = call;
      // A repeated call returns the result of the first attempt, because the folder may have changed since.
      const repeated = await findDeployed(services, call);
      if (repeated) return textResult(describeDeployed(repeated));
      try {
        const content = await readFolder(await services.sandbox.open(sessionId), folder);
        if ("problem" in content) return refuse(content.problem);
        const request = { sessionId, slug, note, content, requestId, runId, callId };
        const deployed = await deployPage(services, request);
        if (!deployed.ok) return refuse(deployed.problem);
        const lost = describeLostLinks(await findLostLinks(content, deployed.page.slug), deployed.page.slug);
        return textResult(describeDeployed(deployed, [...describeHidden(content.hidden), ...lost]));
      } catch (error) {
        if (isWorkspaceError(error)) return refuse(error.message.replace(/^path:/, "folder:"));
        throw error;
      }
    },
  });

const refuse = (problem: string) =>
  errorResult(`deploy_landing_page: ${problem}${problem.endsWith(".") ? "" : "."} Nothing was deployed.`);

type Deployed = Extract<Awaited<ReturnType<typeof deployPage>>, { ok: true }>;

function describeDeployed({ outcome, version, page }: Deployed, remarks: readonly string[] = []): string {
  const { number, fileCount, sizeBytes } = version;
  const size = `${countOf(fileCount, "file")}, ${sizeBytes.toLocaleString("en")} bytes`;
  const first = {
    new: `Deployed version ${number} of ${page.slug}: ${size}.`,
    unchanged: `Version ${number} of ${page.slug} has exactly these files already (${size}), so no new version was made.`,
    restored: `Version ${number} of ${page.slug} has exactly these files (${size}) and is served again.`,
  }[outcome];
  return [
    first,
    page.version === null ? "The page is unpublished." : page.url,
    ...remarks,
    "Browsers run the page in a sandbox with an origin of its own: scripts, forms, popups, relative links and fetch of its own files work; cookies, localStorage, sessionStorage, IndexedDB, service workers, alert() and downloads do not. Root-relative links such as /style.css lead out of the page.",
  ].join("\n");
}

function describeLostLinks({ outside, isOtherBase, missing }: LostLinks, slug: string): string[] {
  const list = (links: LostLinks["missing"]) => {
    const shown = links
      .slice(0, LINKS_SHOWN_MAX)
      .map(({ from, link }) => `${JSON.stringify(shorten(link, LINK_CHARACTERS_MAX))} in ${from}`);
    const more = links.length - shown.length;
    return quoteAsData("the folder", [...shown, ...(more > 0 ? [`and ${more} more`] : [])].join("\n"));
  };
  const base = `${PAGES_FOLDER}${slug}/`;
  const advice = isOtherBase
    ? `The folder has these files, but was built for the root of a site. Build it again with relative links or for the base ${base} (VitePress and Vite: base, Docusaurus: baseUrl), and deploy it again.`
    : `Use relative links, or links below ${base}.`;
  return [
    ...(outside.length === 0
      ? []
      : [`Not found, because these links lead out of the page: ${list(outside)}`, advice]),
    ...(missing.length === 0 ? [] : [`Not found, because the folder has no such file: ${list(missing)}`]),
  ];
}

function describeHidden(hidden: readonly string[]): string[] {
  if (hidden.length === 0) return [];
  const shown = hidden.slice(0, HIDDEN_SHOWN_MAX).map((path) => JSON.stringify(path));
  const more = hidden.length - shown.length;
  return [
    `Left out because hidden files are not published: ${shown.join(", ")}${more > 0 ? ` and ${more} more` : ""}.`,
  ];
}
