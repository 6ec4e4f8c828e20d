import type {
  ExportFormat,
  ImportFormat,
  OmittedChange,
  Publication,
  Release,
  VariantSummary,
} from "../state/view-types.ts";
import { type ActionOutcome, callAction, pick } from "./call-action.ts";

/** Publishes, exports and imports variants. Source: `wire.md`, Publications. */
export type PublicationActions = {
  /**
   * Publishes a revision. Fails with 409 if the variant has a newer revision. Also fails with 409 if the revision has
   * no passed check and `unchecked` is false.
   */
  publishVariant: (
    key: string,
    release: { revision: number; unchecked: boolean },
  ) => Promise<ActionOutcome<{ publication: Publication; variant: VariantSummary }>>;
  /** Accepts changes that the check of a revision could not examine. Fails with 409 if there is a newer check. */
  acceptChanges: (
    key: string,
    acceptance: { revision: number; checkedAt: string; changes: string[] },
  ) => Promise<ActionOutcome<VariantSummary>>;
  /** Makes an earlier or later release the current one. The answer is the publication with that release. */
  rollBackVariant: (key: string, release: number) => Promise<ActionOutcome<Publication | null>>;
  unpublishVariant: (key: string) => Promise<ActionOutcome<Publication | null>>;
  /** Reads the releases of a variant, newest first. */
  readReleases: (key: string) => Promise<ActionOutcome<Release[]>>;
  /** Exports a revision as a file. */
  exportRevision: (
    key: string,
    revision: number,
    format: ExportFormat,
  ) => Promise<ActionOutcome<ExportedFile>>;
  /**
   * Stores a document of this service or of another tool as a new revision. Fails with 409 if the variant has a newer
   * revision than `baseRevision`.
   */
  importVariant: (
    key: string,
    draft: ImportDraft,
  ) => Promise<ActionOutcome<{ variant: VariantSummary; omitted: OmittedChange[] }>>;
};

/** An exported file, and the changes that its format cannot express. */
type ExportedFile = { name: string; mediaType: string; text: string; omitted: OmittedChange[] };

/** A document to import as the revision after `baseRevision`. */
type ImportDraft = { format: ImportFormat; document: unknown; baseRevision: number };

/** @param variants path of the session's variants. */
export function createPublicationActions(variants: string, fetcher: typeof fetch): PublicationActions {
  const post = <Answer>(path: string, body?: unknown) =>
    callAction<Answer>(fetcher, "POST", `${variants}/${path}`, body);
  return {
    publishVariant: (key, release) => post(`${key}/publish`, release),
    acceptChanges: async (key, acceptance) =>
      pick(await post<{ variant: VariantSummary }>(`${key}/accept`, acceptance), "variant"),
    rollBackVariant: async (key, release) => toPublication(await post(`${key}/rollback`, { release })),
    unpublishVariant: async (key) => toPublication(await post(`${key}/unpublish`)),
    async readReleases(key) {
      const path = `${variants}/${key}/releases`;
      const outcome = await callAction<{ data: Release[] }>(fetcher, "GET", path);
      return pick(outcome, "data");
    },
    exportRevision(key, revision, format) {
      const path = `${variants}/${key}/revisions/${revision}/export?format=${format}`;
      const read = (response: Response) => readFile(response, `${key}-r${revision}`, format);
      return callAction(fetcher, "GET", path, undefined, { read });
    },
    importVariant: (key, draft) => post(`${key}/import`, draft),
  };
}

const toPublication = (
  outcome: ActionOutcome<{ publication: Publication | null }>,
): ActionOutcome<Publication | null> =>
  outcome.isDone ? { isDone: true, answer: outcome.answer.publication } : outcome;

/** Reads an exported file. A script is not changed; the JSON of a document is indented. */
async function readFile(response: Response, name: string, format: ExportFormat): Promise<ExportedFile> {
  if (format === "script")
    return { name: `${name}.js`, mediaType: "text/javascript", text: await response.text(), omitted: [] };
  // The cast is safe, because the service sends what its contract says.
  const { document, omitted } = (await response.json()) as { document: unknown; omitted: OmittedChange[] };
  return {
    name: format === "json" ? `${name}.json` : `${name}.${format}.json`,
    mediaType: "application/json",
    text: `${JSON.stringify(document, null, 2)}\n`,
    omitted,
  };
}
