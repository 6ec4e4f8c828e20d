/** A date of a text, as `2026-03-01` or `2026-03`. */
export type DatePlace = { value: string; start: number; end: number };

/** Names and short names of the months, in simplified form. */
const MONTHS: string[][] = [
  "january jan januar januari janvier janv enero ene gennaio gen janeiro styczen stycznia styczeń leden ledna",
  "february feb februar februari fevrier février fevr févr febrero febbraio febr fevereiro fev luty lutego únor února",
  "march mar marz märz mrz maart mrt mars marzo março marco marzec marca březen března",
  "april apr avril avr abril abr aprile kwiecien kwiecień kwietnia duben dubna",
  "may mai mei maj mayo maggio mag maio maja květen května",
  "june jun juni juin junio giugno giu junho czerwiec czerwca červen června",
  "july jul juli juillet juil julio luglio lug julho lipiec lipca červenec července",
  "august aug augustus aout août agosto ago augusti sierpien sierpień sierpnia srpen srpna",
  "september sep sept septembre septiembre settembre set setembro wrzesien wrzesień września září",
  "october oct oktober okt octobre octubre ottobre ott outubro out pazdziernik październik października říjen října",
  "november nov novembre noviembre novembro listopad listopada",
  "december dec dezember dez decembre décembre diciembre dic dicembre dezembro desember des grudzien grudzień grudnia prosinec prosince",
].map((names) => names.split(" "));
const MONTH_NUMBERS = new Map(
  MONTHS.flatMap((names, index) => names.map((name) => [name, index + 1] as const)),
);
const NAME = [...MONTH_NUMBERS.keys()].sort((one, other) => other.length - one.length).join("|");

const EDGE = "(?<![\\p{L}\\d])";
const END = "(?![\\p{L}\\d])";
const FORMS: [RegExp, (groups: string[]) => string[]][] = [
  // 2026-03-01, 2026/3/1, 2026.03.01, 2026年3月1日
  [/(?<![\d.])(\d{4}) ?[-/.年] ?(\d{1,2}) ?[-/.月] ?(\d{1,2})(?:日|(?![\d]))/gu, ([y, m, d]) => ymd(y, m, d)],
  // 01.03.2026, 3/1/2026, 1-3-26
  [
    /(?<![\d.])(\d{1,2}) ?([-/.]) ?(\d{1,2}) ?\2 ?(\d{4}|\d{2})(?![\d]|[-/.]\d)/gu,
    ([a, mark, b, y]) => [...ymd(y, b, a), ...(mark === "." ? [] : ymd(y, a, b))],
  ],
  // 1 March 2026, 1. März 2026, 1er mars 2026, 1 de marzo de 2026, 1st of March, 2026
  [
    new RegExp(
      `${EDGE}(\\d{1,2})(?:\\.|st|nd|rd|th|er|º|ª)?[ -](?:of |de |d'|del )?(${NAME})\\.?,?[ -](?:de |del |of )?(\\d{4}|'\\d{2}|\\d{2}(?![\\d:.]))${END}`,
      "gu",
    ),
    ([d, name, y]) => ymd(y, monthOf(name), d),
  ],
  // March 1, 2026
  [
    new RegExp(`${EDGE}(${NAME})\\.?[ -](\\d{1,2})(?:st|nd|rd|th)?(?:,| of)?[ -](\\d{4})${END}`, "gu"),
    ([name, d, y]) => ymd(y, monthOf(name), d),
  ],
  // March 2026, März 2026, marzo de 2026
  [
    new RegExp(`${EDGE}(${NAME})\\.?,? (?:de |del |of )?(\\d{4})${END}`, "gu"),
    ([name, y]) => [`${y}-${pad(monthOf(name))}`],
  ],
  // 2026-03
  [/(?<![\d-])(\d{4})-(\d{2})(?![\d-])/gu, ([y, m]) => [`${y}-${m}`]],
];

const monthOf = (name: string | undefined) => String(MONTH_NUMBERS.get(name ?? "") ?? 0);
const pad = (text: string | undefined) => (text ?? "").padStart(2, "0");

function ymd(year = "", month = "", day = ""): string[] {
  const short = year.replace("'", "");
  const full = short.length === 2 ? `20${short}` : short;
  const isDate = Number(month) >= 1 && Number(month) <= 12 && Number(day) >= 1 && Number(day) <= 31;
  return isDate ? [`${full}-${pad(month)}-${pad(day)}`] : [];
}

/** Finds the dates of a simplified text, in all readings: `1/3/2026` is in January and in March. */
export function* findDates(search: string): Generator<DatePlace> {
  for (const [form, read] of FORMS)
    for (const match of search.matchAll(form)) {
      const [text, ...groups] = match;
      for (const value of read(groups)) yield { value, start: match.index, end: match.index + text.length };
    }
}

/** A value that is a date, perhaps with a time. `time` is `14:30`; undefined if there is none, or midnight. */
export type DateValue = { dates: string[]; time: string | undefined };

/** Reads a simplified text that consists of one date, perhaps with a time and a day of the week. */
export function readDate(text: string): DateValue | undefined {
  const iso = /^(\d{4}-\d\d-\d\d)t(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:z|[+-]\d\d:?\d\d)?$/.exec(text.trim());
  if (iso) return { dates: [iso[1] ?? ""], time: iso[2] === "00:00" ? undefined : iso[2] };
  const bare = text.trim().replace(/^\p{L}{2,12}\.?,? (?=\d)/u, "");
  const found = [...findDates(bare)].filter(({ start, end }) => start <= 1 && end >= bare.length - 1);
  const days = found.filter(({ value }) => value.length > 7);
  const dates = (days.length > 0 ? days : found).map(({ value }) => value);
  return dates.length > 0 ? { dates, time: undefined } : undefined;
}

/** Whether a time is within a few characters after, or before, a date. */
export function hasTimeNear(search: string, place: DatePlace, time: string): boolean {
  const near = search.slice(Math.max(0, place.start - 20), place.end + 40);
  const [hour = 0, minute = 0] = time.split(":").map(Number);
  for (const match of near.matchAll(
    /(?<!\d)(\d{1,2})[:.h](\d{2})(?!\d)(?::\d{2})? ?(am|pm|a\.m\.|p\.m\.)?/g,
  )) {
    const half = match[3]?.[0];
    const shown = (Number(match[1]) % (half ? 12 : 24)) + (half === "p" ? 12 : 0);
    if (shown === hour && Number(match[2]) === minute) return true;
  }
  return false;
}
