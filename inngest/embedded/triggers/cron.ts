type Field = ReadonlySet<number>;

/** A parsed cron schedule. */
export type CronSchedule = {
  minutes: Field;
  hours: Field;
  days: Field;
  months: Field;
  weekdays: Field;
  /** Whether both day of month and day of week are restricted. If so, a day that matches one of them is enough (POSIX). */
  eitherDay: boolean;
};

function parseField(text: string, min: number, max: number): Set<number> {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const match = /^(?:\*|(\d+)(?:-(\d+))?)(?:\/(\d+))?$/.exec(part);
    if (!match) throw new Error(`"${part}" is no cron field.`);
    const [, first, last, stepText] = match;
    const step = stepText === undefined ? 1 : Number(stepText);
    const from = first === undefined ? min : Number(first);
    const open = first === undefined || (last === undefined && stepText !== undefined);
    const to = last !== undefined ? Number(last) : open ? max : from;
    if (from < min || to > max || from > to || step < 1) throw new Error(`"${part}" is out of range.`);
    for (let value = from; value <= to; value += step) values.add(value);
  }
  return values;
}

/**
 * Parses a five-field cron expression (numbers, lists, ranges, steps), in UTC.
 *
 * @throws with a sentence for any other text, such as one with a `TZ=` prefix.
 */
export function parseCron(expression: string): CronSchedule {
  const fields = expression.trim().split(/\s+/);
  const [minute, hour, day, month, weekday] = fields;
  if (fields.length !== 5 || !minute || !hour || !day || !month || !weekday)
    throw new Error(`The cron expression "${expression}" must have five fields (UTC).`);
  const weekdays = parseField(weekday, 0, 7);
  if (weekdays.has(7)) weekdays.add(0);
  return {
    minutes: parseField(minute, 0, 59),
    hours: parseField(hour, 0, 23),
    days: parseField(day, 1, 31),
    months: parseField(month, 1, 12),
    weekdays,
    eitherDay: !day.startsWith("*") && !weekday.startsWith("*"),
  };
}

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const DAYS_SEARCHED = 366 * 8;

function isDue(schedule: CronSchedule, date: Date): boolean {
  if (!schedule.months.has(date.getUTCMonth() + 1)) return false;
  const byDay = schedule.days.has(date.getUTCDate());
  const byWeekday = schedule.weekdays.has(date.getUTCDay());
  return schedule.eitherDay ? byDay || byWeekday : byDay && byWeekday;
}

/** Returns the first due time after `afterMs` (ms since the epoch); undefined if there is none within eight years. */
export function nextCronTime(schedule: CronSchedule, afterMs: number): number | undefined {
  const firstMinute = Math.floor(afterMs / MINUTE_MS) * MINUTE_MS + MINUTE_MS;
  let day = Math.floor(firstMinute / DAY_MS) * DAY_MS;
  for (let count = 0; count < DAYS_SEARCHED; count++, day += DAY_MS) {
    if (!isDue(schedule, new Date(day))) continue;
    for (const hour of [...schedule.hours].sort((a, b) => a - b))
      for (const minute of [...schedule.minutes].sort((a, b) => a - b)) {
        const time = day + hour * HOUR_MS + minute * MINUTE_MS;
        if (time >= firstMinute) return time;
      }
  }
  return undefined;
}
