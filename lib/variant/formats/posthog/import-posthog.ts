import { z } from "zod";
import { type ChangeInput, VARIANT_LIMITS } from "../../document.ts";
import { chooseTreatment } from "../imported/choose-treatment.ts";
import { collectPages, type Draft } from "../imported/collect-pages.ts";
import { field, hasOwn, type Imported, type ImportOptions, parsePart, quote } from "../imported/imported.ts";
import { type Address, readRegex } from "../imported/read-address.ts";
import { toContentChange } from "../imported/read-content.ts";
import { unwrapSelector } from "../portable/selector.ts";

const transformSchema = field.object({
  selector: field.optionalText(),
  text: field.optionalText(),
  html: field.optionalText(),
  css: field.optionalText(),
  imgUrl: field.optionalText(),
  className: field.optionalText(),
  attributes: field
    .array(field.object({ name: field.text(), value: field.text() }), VARIANT_LIMITS.changesMax)
    .nullish(),
});
type Transform = z.infer<typeof transformSchema>;

const conditionsSchema = field.object({
  url: field.optionalText(),
  urlMatchType: field.optionalText(),
  utm: z.record(z.string(), z.unknown(), { error: "must be an object" }).nullish(),
});

const variantSchema = field.object({
  // In PostHog's own example, a variant without conditions has the text `None` here.
  conditions: z.preprocess((value) => (value === "None" ? null : value), conditionsSchema.nullish()),
  transforms: field.array(transformSchema, 5 * VARIANT_LIMITS.changesMax).nullish(),
});
type Variant = z.infer<typeof variantSchema>;

const experimentSchema = field.object({
  id: z.union([z.number(), z.string()], { error: "must be a number or a string" }).nullish(),
  name: field.optionalText(),
  feature_flag_key: field.optionalText(),
});

const EXPERIMENTS_MAX = 1_000;
const VARIANTS_MAX = 100;

type Treatment = {
  path: string;
  names: string[];
  isControl: boolean;
  isEmpty: boolean;
  conditions: Variant["conditions"];
  transforms: Transform[];
};
type Experiment = { path: string; names: string[]; treatments: Treatment[] };
type Read<Value> = { ok: true; value: Value } | { ok: false; problem: string };

/**
 * Imports web experiments of PostHog's API, the response of that API to posthog-js, or an export of `exportPostHog`.
 * Imports one variant of one experiment, even if there are several. `text`, `attributes`, `imgUrl` and `className`
 * become changes too. Current versions of posthog-js ignore these fields, but the fields show what the author of the
 * experiment wanted. Validates `value`. Has no side effects.
 */
export function importPostHog(value: unknown, options: ImportOptions = {}): Imported {
  const read = readExperiments(value);
  if (!read.ok) return read;
  const omitted: string[] = [];
  const chosen = chooseTreatment(read.value, options, omitted);
  if (!chosen.ok) return chosen;
  return collectPages(
    chosen.treatments.flatMap((treatment) => readDraft(treatment, options.url, omitted)),
    omitted,
  );
}

function readExperiments(value: unknown): Read<Experiment[]> {
  const list = ["experiments", "results"].find((name) => hasOwn(value, name));
  const items = list !== undefined && hasOwn(value, list) ? value[list] : value;
  if (!Array.isArray(items)) {
    if (list !== undefined) return { ok: false, problem: `${list}: must be an array` };
    const read = readExperiment(items, "");
    return read.ok ? { ok: true, value: [read.value] } : read;
  }
  if (items.length > EXPERIMENTS_MAX)
    return { ok: false, problem: `${list ?? "document"}: must hold at most 1,000 entries` };
  const experiments: Experiment[] = [];
  for (const [index, item] of items.entries()) {
    const read = readExperiment(item, `${list ?? ""}[${index}]`);
    if (!read.ok) return read;
    experiments.push(read.value);
  }
  return { ok: true, value: experiments };
}

function readExperiment(value: unknown, path: string): Read<Experiment> {
  if (!hasOwn(value, "variants"))
    return { ok: false, problem: `${path || "document"}: must be a web experiment of PostHog` };
  const parsed = parsePart(experimentSchema, value, path);
  if (!parsed.ok) return parsed;
  const place = path === "" ? "variants" : `${path}.variants`;
  const { variants } = value;
  if (typeof variants !== "object" || variants === null || Array.isArray(variants))
    return { ok: false, problem: `${place}: must be an object` };
  const entries = Object.entries(variants);
  if (entries.length > VARIANTS_MAX)
    return { ok: false, problem: `${place}: must hold at most ${VARIANTS_MAX} entries` };
  const treatments: Treatment[] = [];
  for (const [name, variant] of entries) {
    const read = readVariant(name, variant, place);
    if (!read.ok) return read;
    treatments.push(read.value);
  }
  const { feature_flag_key, name, id } = parsed.value;
  const names = [feature_flag_key, name, id].filter(
    (each) => each !== null && each !== undefined && each !== "",
  );
  return { ok: true, value: { path, names: names.map(String), treatments } };
}

function readVariant(name: string, value: unknown, place: string): Read<Treatment> {
  const path = /^[\w$-]{1,200}$/.test(name)
    ? `${place}.${name}`
    : `${place}[${JSON.stringify(name.slice(0, 200).toWellFormed())}]`;
  const parsed = parsePart(variantSchema, value, path);
  if (!parsed.ok) return parsed;
  const transforms = parsed.value.transforms ?? [];
  const { conditions } = parsed.value;
  return {
    ok: true,
    // A variant named `control` is the control: PostHog never applies it.
    value: {
      path,
      names: [name],
      isControl: name === "control",
      isEmpty: transforms.every((transform) => readTransform(transform).length === 0),
      conditions,
      transforms,
    },
  };
}

function readDraft(
  { path, conditions, transforms }: Treatment,
  url: string | undefined,
  omitted: string[],
): Draft[] {
  const changes = transforms.flatMap((transform, index) => {
    const place = `${path}.transforms[${index}]`;
    const read = readTransform(transform);
    if (read.length === 0) omitted.push(`${place}: it has no selector, or nothing to change.`);
    return read.map((change) => ({ path: place, change }));
  });
  if (Object.keys(conditions?.utm ?? {}).length > 0)
    omitted.push(
      `${path}.conditions.utm: a page entry has no condition for campaigns; the changes apply without it.`,
    );
  return readAddress(path, conditions, url, omitted).map((address) => ({
    path,
    ...address,
    changes,
    css: "",
    js: "",
  }));
}

/** Converts a transform to changes, in the order in which posthog-js applies its fields. */
function readTransform({
  selector,
  text,
  html,
  css,
  imgUrl,
  className,
  attributes,
}: Transform): ChangeInput[] {
  if (!selector) return [];
  const target = { selector: unwrapSelector(selector) };
  const set = (name: string, value: string | null | undefined): ChangeInput[] =>
    value ? [{ ...target, op: "setAttribute", name, value }] : [];
  return [
    ...(attributes ?? []).flatMap(({ name, value }) => [
      { ...target, op: "setAttribute" as const, name, value },
    ]),
    ...(html
      ? [toContentChange(target.selector, html)]
      : text
        ? [{ ...target, op: "setText" as const, text }]
        : []),
    ...set("src", imgUrl),
    ...set("class", className),
    ...set("style", css),
  ];
}

function readAddress(
  path: string,
  conditions: Variant["conditions"],
  url: string | undefined,
  omitted: string[],
): Address[] {
  const { url: condition, urlMatchType } = conditions ?? {};
  const address = condition ? readCondition(condition, urlMatchType ?? "icontains") : undefined;
  const place = `${path}.conditions.url`;
  if (condition && address?.match === "prefix" && urlMatchType !== "regex")
    omitted.push(
      `${place}: PostHog looks for it anywhere in an address; the page entry matches addresses that begin with it.`,
    );
  if (address) return [address];
  const problem = condition ? "the condition has no equivalent here" : "there is no address";
  omitted.push(
    `${place}: ${problem}${url === undefined ? "; give the url of the page" : `, and ${quote(url)} is used`}.`,
  );
  return url === undefined ? [] : [{ url, match: "path" }];
}

function readCondition(url: string, type: string): Address | undefined {
  if (type === "regex") return readRegex(url);
  if (!/^https?:\/\//i.test(url)) return undefined;
  // posthog-js also compares the fragment, but the runtime does not.
  if (url.includes("#")) return undefined;
  if (type === "exact") return { url, match: "exact" };
  return type === "icontains" ? { url, match: "prefix" } : undefined;
}
