import type { ImportFormat } from "#db/schema/unions.ts";
import { hashBody } from "#lib/session/canonical-json.ts";
import { findJsonFlaw, findSizeFlaw, type JsonFlaw } from "#lib/text/json-flaw.ts";
import { DEFAULT_VARIANT, variantKeySchema } from "#lib/variant/document.ts";
import { formatPath, hasOwn } from "#lib/variant/formats/imported/imported.ts";
import type { JsonFormat } from "#lib/variant/formats/index.ts";
import { readVariantDocument } from "#lib/variant/import-variant.ts";
import { type LeftOut, SESSION_FORMAT, SESSION_FORMAT_VERSION } from "./format.ts";
import type { ImportContent, ReadContent } from "./import-content.ts";
import { readSessionExport } from "./read-session-export.ts";

/** The validated content of a document, ready to be stored in a session. */
export type ImportPlan = ImportContent & {
  /** Size of the content in bytes, as JSON and without `leftOut`. */
  sizeBytes: number;
};

/** The result of reading a document. `problem` begins with the path of the invalid field, or with `document`. */
export type ReadDocument = { ok: true; plan: ImportPlan } | { ok: false; problem: string };
const KINDS =
  "a session's JSON export (format version 1), a variant's JSON export, or a document of GrowthBook or PostHog";
const IMPORT_FORMAT: Record<JsonFormat, ImportFormat> = {
  json: "agent-session-variant",
  growthbook: "growthbook",
  posthog: "posthog",
};

/**
 * Parses the bytes of a document as JSON text, and reads the document.
 *
 * @see readDocument
 */
export function readDocumentText(bytes: Uint8Array): ReadDocument {
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes);
  } catch {
    return { ok: false, problem: "document: must be UTF-8" };
  }
  if (text.trim() === "") return { ok: false, problem: `document: is empty; it must be ${KINDS}` };
  const tooLarge = findSizeFlaw(text);
  if (tooLarge) return { ok: false, problem: describeFlaw(tooLarge) };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return { ok: false, problem: "document: must be valid JSON" };
  }
  return readDocument(value);
}

/** Reads and validates a document in any format that can be imported. Has no side effects. */
export function readDocument(value: unknown): ReadDocument {
  const read = readContent(value);
  if (!read.ok) return read;
  const { leftOut, ...stored } = read.content;
  const sizeBytes = Buffer.byteLength(JSON.stringify(stored));
  return { ok: true, plan: { ...stored, leftOut, sizeBytes } };
}

/** Describes a flaw in a sentence that begins with the field: at most its first 20 keys, or `document`. */
const describeFlaw = ({ path, sentence }: JsonFlaw): string =>
  `${formatPath(path.slice(0, 20)) || "document"}: ${sentence}`;

function readContent(value: unknown): ReadContent {
  const flaw = findJsonFlaw(value);
  if (flaw) return { ok: false, problem: describeFlaw(flaw) };
  if (hasOwn(value, "format") && value.format === SESSION_FORMAT) {
    const version = hasOwn(value, "version") ? value.version : undefined;
    if (version !== SESSION_FORMAT_VERSION)
      return {
        ok: false,
        problem: `version: must be ${SESSION_FORMAT_VERSION}, the version that this service reads`,
      };
    return readSessionExport(value);
  }
  const recognized = recognize(value);
  if (!recognized) return { ok: false, problem: `document: must be ${KINDS}` };
  return readVariantOf(recognized.format, recognized.value);
}

/** Recognizes the format of a variant's document. Returns undefined if the format is unknown. */
function recognize(value: unknown): { format: JsonFormat; value: unknown } | undefined {
  // People often save the whole response of an export. The document is then in the response's field `document`.
  if (hasOwn(value, "success") && hasOwn(value, "document") && hasOwn(value, "format")) {
    const format = (["json", "growthbook", "posthog"] as const).find((each) => each === value.format);
    return format && { format, value: value.document };
  }
  if (hasOwn(value, "pages") || (hasOwn(value, "format") && value.format === "agent-session-variant"))
    return { format: "json", value };
  const names = ["visualChangeset", "visualChangesets", "encryptedExperiments"];
  if (names.some((name) => hasOwn(value, name))) return { format: "growthbook", value };
  const list = ["experiments", "results"].find((name) => hasOwn(value, name));
  const items = list !== undefined && hasOwn(value, list) ? value[list] : value;
  const first: unknown = Array.isArray(items) ? items[0] : items;
  if (hasOwn(first, "visualChanges") || hasOwn(first, "variations")) return { format: "growthbook", value };
  return hasOwn(first, "variants") ? { format: "posthog", value } : undefined;
}

function readVariantOf(format: JsonFormat, value: unknown): ReadContent {
  const read = readVariantDocument(format, value, {});
  if (!read.ok) return read;
  const key = hasOwn(value, "variant") ? variantKeySchema.safeParse(value.variant) : undefined;
  return {
    ok: true,
    content: {
      format: IMPORT_FORMAT[format],
      documentId: `sha256:${hashBody(value)}`,
      title: null,
      sourceSessionId: null,
      exportedAt: null,
      variants: [{ key: key?.success ? key.data : DEFAULT_VARIANT, document: read.document }],
      messages: [],
      planItems: [],
      requirements: [],
      leftOut: read.omitted.map(splitField),
    },
  };
}

/**
 * Splits a sentence about an omitted part into its field and its reason. If the sentence does not begin with a field,
 * the field is `document`.
 */
function splitField(sentence: string): LeftOut {
  const [, field, reason] = /^([^\s:]+): (.*)$/s.exec(sentence) ?? [];
  return field !== undefined && reason !== undefined
    ? { field, reason }
    : { field: "document", reason: sentence };
}
