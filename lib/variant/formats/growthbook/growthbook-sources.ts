import { z } from "zod";
import { VARIANT_LIMITS } from "../../document.ts";
import { field, hasOwn, parsePart } from "../imported/imported.ts";

const mutationSchema = field.object({
  selector: field.text(),
  action: field.text(),
  attribute: field.text(),
  value: field.optionalText(),
  parentSelector: field.optionalText(),
  insertBeforeSelector: field.optionalText(),
});
export type ImportedMutation = z.infer<typeof mutationSchema>;

const changes = {
  css: field.optionalText(),
  js: field.optionalText(),
  domMutations: field.array(mutationSchema, 5 * VARIANT_LIMITS.changesMax).nullish(),
};
const urlPatterns = field
  .array(
    field.object({
      include: z.boolean({ error: "must be a boolean" }).nullish(),
      type: field.text(),
      pattern: field.text(),
    }),
    VARIANT_LIMITS.pagesMax,
  )
  .nullish();

const VARIATIONS_MAX = 100;
const SOURCES_MAX = 1_000;

const changesetSchema = field.object({
  experiment: field.optionalText(),
  urlPatterns,
  visualChanges: field.array(
    field.object({
      ...changes,
      id: field.optionalText(),
      variation: field.optionalText(),
      description: field.optionalText(),
    }),
    VARIATIONS_MAX,
  ),
});

const name = field.object({ key: field.optionalText(), name: field.optionalText() });
const experimentSchema = field.object({
  key: field.text(),
  name: field.optionalText(),
  urlPatterns,
  meta: field.array(name, VARIATIONS_MAX).nullish(),
  variations: field.array(field.object({ ...changes, urlRedirect: field.optionalText() }), VARIATIONS_MAX),
});

/** The changes of one variation in one visual changeset or auto experiment. */
export type SourceVariation = {
  path: string;
  /** Names by which the caller of an import can choose this variation. */
  names: string[];
  css: string;
  js: string;
  mutations: ImportedMutation[];
  redirect: string | null;
};

/** A visual changeset or an auto experiment. If it has several variations, the first one is the control. */
export type GrowthBookSource = {
  path: string;
  experimentNames: string[];
  urlPatterns: { include?: boolean | null | undefined; type: string; pattern: string }[] | null;
  variations: SourceVariation[];
};

type Read<Value> = { ok: true; value: Value } | { ok: false; problem: string };

const isGiven = (text: string | null | undefined): text is string => typeof text === "string" && text !== "";

/** Appends `rest` to the path of a field. */
const below = (path: string, rest: string): string => (path === "" ? rest : `${path}.${rest}`);

type Changes = {
  css?: string | null | undefined;
  js?: string | null | undefined;
  domMutations?: ImportedMutation[] | null | undefined;
};
const readChanges = ({ css, js, domMutations }: Changes) => ({
  css: css ?? "",
  js: js ?? "",
  mutations: domMutations ?? [],
});

function readChangeset(value: unknown, path: string): Read<GrowthBookSource> {
  const parsed = parsePart(changesetSchema, value, path);
  if (!parsed.ok) return parsed;
  const { experiment, urlPatterns: patterns, visualChanges } = parsed.value;
  return {
    ok: true,
    value: {
      path,
      experimentNames: [experiment].filter(isGiven),
      urlPatterns: patterns ?? null,
      variations: visualChanges.map((change, index) => ({
        path: below(path, `visualChanges[${index}]`),
        names: [change.variation, change.id, change.description, String(index)].filter(isGiven),
        ...readChanges(change),
        redirect: null,
      })),
    },
  };
}

function readExperiment(value: unknown, path: string): Read<GrowthBookSource> {
  const parsed = parsePart(experimentSchema, value, path);
  if (!parsed.ok) return parsed;
  const { key, name: title, urlPatterns: patterns, meta, variations } = parsed.value;
  return {
    ok: true,
    value: {
      path,
      experimentNames: [key, title].filter(isGiven),
      urlPatterns: patterns ?? null,
      variations: variations.map((variation, index) => ({
        path: below(path, `variations[${index}]`),
        names: [String(index), meta?.[index]?.key, meta?.[index]?.name].filter(isGiven),
        ...readChanges(variation),
        redirect: isGiven(variation.urlRedirect) ? variation.urlRedirect : null,
      })),
    },
  };
}

/** Lists the values that should be changesets or experiments, with their paths. The values are not validated here. */
function listSources(value: unknown): Read<{ path: string; value: unknown }[]> {
  if (hasOwn(value, "encryptedExperiments"))
    return { ok: false, problem: "encryptedExperiments: is encrypted; import the decrypted payload" };
  if (hasOwn(value, "visualChangeset"))
    return { ok: true, value: [{ path: "visualChangeset", value: value.visualChangeset }] };
  // Exports of this service have the same changes in both lists, so only the first list is read.
  const list = ["visualChangesets", "experiments"].find((each) => hasOwn(value, each));
  const isList = Array.isArray(value);
  if (list === undefined && !isList) return { ok: true, value: [{ path: "", value }] };
  const items = hasOwn(value, list ?? "") ? value[list ?? ""] : value;
  if (!Array.isArray(items)) return { ok: false, problem: `${list}: must be an array` };
  const path = list ?? "document";
  if (items.length > SOURCES_MAX)
    return { ok: false, problem: `${path}: must hold at most ${SOURCES_MAX.toLocaleString("en")} entries` };
  return { ok: true, value: items.map((item, index) => ({ path: `${list ?? ""}[${index}]`, value: item })) };
}

/** Reads visual changesets of GrowthBook's REST API, payloads of its SDK, and exports of this service. */
export function readGrowthBookSources(value: unknown): Read<GrowthBookSource[]> {
  const listed = listSources(value);
  if (!listed.ok) return listed;
  const sources: GrowthBookSource[] = [];
  for (const { path, value: item } of listed.value) {
    const read = hasOwn(item, "visualChanges")
      ? readChangeset(item, path)
      : hasOwn(item, "variations")
        ? readExperiment(item, path)
        : {
            ok: false as const,
            problem: `${path || "document"}: must be a visual changeset of GrowthBook or an experiment of its SDK`,
          };
    if (!read.ok) return read;
    sources.push(read.value);
  }
  return { ok: true, value: sources };
}
