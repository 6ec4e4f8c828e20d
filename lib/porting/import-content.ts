import type { PlanItem } from "#db/schema/index.ts";
import type { ImportFormat } from "#db/schema/unions.ts";
import type { AssertionInput } from "#lib/planning/requirement.ts";
import type { VariantDocument } from "#lib/variant/document.ts";
import type { ExportedMessage, LeftOut } from "./format.ts";

/** The content of a document that can be imported. */
export type ImportContent = {
  format: ImportFormat;
  /**
   * Id of the document. For a document without an id, this is a hash of its content. A session imports each document
   * only once.
   */
  documentId: string;
  title: string | null;
  sourceSessionId: string | null;
  exportedAt: string | null;
  variants: { key: string; document: VariantDocument }[];
  messages: ExportedMessage[];
  /** Items of the plan, without their ids. Empty if the document has no plan. */
  planItems: Omit<PlanItem, "id">[];
  /** The requirements that are not waived. `field` is the path of the requirement in the document. */
  requirements: { field: string; text: string; assertion: AssertionInput | null }[];
  leftOut: LeftOut[];
};

export type ReadContent = { ok: true; content: ImportContent } | { ok: false; problem: string };
