import { randomInt } from "node:crypto";
import { diffArrays } from "diff";
import { shorten } from "#lib/text/shorten.ts";
import type { Snapshot } from "./take-snapshot.ts";

/** A snapshot with the id by which the model refers to it. */
export type NamedSnapshot = Snapshot & { id: string };

/**
 * The latest snapshots of each session, in memory. The model can compare a new snapshot with an earlier one, and read
 * further lines of a snapshot that was only partly shown.
 */
export type SnapshotBook = {
  add: (sessionId: string, snapshot: Snapshot) => NamedSnapshot;
  find: (sessionId: string, id: string) => NamedSnapshot | undefined;
  /** The snapshot that was added last. */
  latest: (sessionId: string) => NamedSnapshot | undefined;
  /** Returns how the latest snapshot that contains a ref describes the ref's element, for example `button "Save"`. */
  describeRef: (sessionId: string, ref: string) => string | undefined;
};

const SNAPSHOTS_MAX = 4;
/**
 * Maximum characters of the snapshots of all sessions together. Above this limit, sessions lose their snapshots,
 * beginning with the session that has gone longest without a new snapshot.
 */
const CHARS_MAX = 32 * 2 ** 20;

export function createSnapshotBook(): SnapshotBook {
  const bySession = new Map<string, NamedSnapshot[]>();
  let chars = 0;
  const count = (snapshots: NamedSnapshot[]) => {
    let sum = 0;
    for (const { lines } of snapshots) for (const line of lines) sum += line.length;
    return sum;
  };
  const evict = (sessionId: string) => {
    chars -= count(bySession.get(sessionId) ?? []);
    bySession.delete(sessionId);
  };
  return {
    add(sessionId, snapshot) {
      const namedSnapshot = { ...snapshot, id: `s${randomInt(36 ** 3, 36 ** 4).toString(36)}` };
      const latest = [namedSnapshot, ...(bySession.get(sessionId) ?? [])].slice(0, SNAPSHOTS_MAX);
      // A map keeps insertion order, so the session must be deleted first to move to the end, where it is evicted last.
      evict(sessionId);
      bySession.set(sessionId, latest);
      chars += count(latest);
      for (const other of bySession.keys()) {
        if (chars <= CHARS_MAX || other === sessionId) break;
        evict(other);
      }
      return namedSnapshot;
    },
    find: (sessionId, id) => bySession.get(sessionId)?.find((snapshot) => snapshot.id === id),
    latest: (sessionId) => bySession.get(sessionId)?.[0],
    describeRef(sessionId, ref) {
      const mark = ` [${ref}]`;
      for (const { lines } of bySession.get(sessionId) ?? [])
        for (const line of lines) {
          const end = line.indexOf(mark);
          if (end !== -1) return LAST_ELEMENT.exec(line.slice(0, end))?.[0].trim();
        }
      return undefined;
    },
  };
}

/** Matches only the words and the quoted name directly before a ref, because a line may contain several elements. */
const LAST_ELEMENT = /[a-z][a-z\d, ]*( "(?:[^"\\]|\\.)*")?$/;

/**
 * Lists the differences between two snapshots of the same document: removed lines (`-`) and added lines (`+`). Before
 * each group of changes, a line says where it is: `in <lines of the elements around it> after <the line before it>`.
 * Lines at the end name the newly focused element and the new scroll position, if they changed. A line that differs only
 * in its focus does not count as changed, because almost every action moves the focus. Neither does a line of a control
 * that a dialog covers now: the lines of the dialog say it.
 */
export function describeDifference(before: Snapshot, after: Snapshot): string[] {
  const changes = diffArrays(before.lines, after.lines, {
    comparator: (one, other) => withoutMarks(one) === withoutMarks(other),
  });
  const described: string[] = [];
  let place = 0;
  let isInHunk = false;
  let inside = "";
  for (const { value, added, removed } of changes) {
    if (!added && !removed) {
      place += value.length;
      isInHunk = false;
      continue;
    }
    if (!isInHunk) {
      const at = findPlace(after.lines, place, value[0] ?? "");
      // Changes in one element need its lines only once.
      described.push(
        at.inside !== "" && at.inside === inside && at.behind !== "" ? at.behind : joinPlace(at),
      );
      inside = at.inside;
    }
    isInHunk = true;
    described.push(...value.map((line) => `${added ? "+" : "-"} ${line.trimStart()}`));
    if (added) place += value.length;
  }
  const focus = findFocus(after.lines);
  if (focus !== undefined && focus !== findFocus(before.lines)) described.push(`focus on ${focus}`);
  if (before.view.scrollY !== after.view.scrollY) described.push(`scrolled to ${after.view.scrollY} px`);
  if (before.view.scrollX !== after.view.scrollX)
    described.push(`scrolled to ${after.view.scrollX} px across`);
  return described;
}

/** A line without what changes with the focus and with an open dialog. */
const withoutMarks = (line: string) => line.replace(/ (focused|inert|behind dialog)(?=$| )/g, "");

/**
 * The ref of the element that has the focus. `focused` comes last among the states of an element, so the ref is before
 * it.
 */
function findFocus(lines: string[]): string | undefined {
  for (const line of lines) {
    const end = line.search(/ focused(?=$| )/);
    if (end !== -1) return /.*(\[\w+\])/.exec(line.slice(0, end))?.[1];
  }
  return undefined;
}

const depthOf = (line: string) => line.length - line.trimStart().length;

const PLACE_CHARS_MAX = 80;
const PARENTS_MAX = 3;

/** Where a changed line is, in words. Empty if nothing is around it or before it. */
type Place = { inside: string; behind: string };

/**
 * Finds in which element a changed line is, and after which one. Of the elements around it, those are named that lead to
 * the nearest one with a name or a text.
 */
function findPlace(lines: string[], place: number, changed: string): Place {
  const parents: string[] = [];
  let previous: string | undefined;
  let depth = depthOf(changed);
  for (let index = place - 1; index >= 0; index--) {
    const line = lines[index] ?? "";
    const own = depthOf(line);
    if (own === depth && parents.length === 0) previous ??= line;
    if (own >= depth) continue;
    parents.unshift(line);
    depth = own;
    if (line.includes('"') || parents.length === PARENTS_MAX) break;
  }
  const show = (line: string) => shorten(withoutMarks(line).trim(), PLACE_CHARS_MAX);
  return {
    inside: parents.length === 0 ? "" : `in ${parents.map(show).join(" > ")}`,
    behind: previous === undefined ? "" : `after ${show(previous)}`,
  };
}

const joinPlace = ({ inside, behind }: Place): string =>
  [inside, behind].filter((part) => part !== "").join(" ") || "at the top";
