import { createHash } from "node:crypto";
import type { Evidence, Invariant, PublicationChange, PublicationReading } from "../world/evidence.ts";
import { readVariant } from "../world/read-variant.ts";

/**
 * Finds publications that lost a release, scripts that do not match their integrity, and releases of the agent that are
 * unchecked or have no tool call. Also finds releases that were announced zero or several times, calls that created
 * several releases, and successful calls that created none.
 */
export const publicationsStored: Invariant = {
  id: "publications",
  promise: "a release is stored once, whole, with its event; its publication outlives the session",
  findViolations({ rows }) {
    const wrong: string[] = [];
    for (const { id, release, newestRelease } of rows.publications) {
      const numbers = rows.releases
        .filter(({ publicationId }) => publicationId === id)
        .map(({ number }) => number)
        .sort((a, b) => a - b);
      if (numbers.some((number, index) => number !== index + 1) || numbers.length !== newestRelease)
        wrong.push(`${id} has the releases ${numbers.join()}, and the newest is ${newestRelease}`);
      if (release !== null && !numbers.includes(release)) wrong.push(`${id} lost its release ${release}`);
    }
    for (const release of rows.releases) {
      const { id, integrity, script, author, callId, isUnchecked } = release;
      const hash = createHash("sha384").update(script).digest("base64");
      if (integrity !== `sha384-${hash}`) wrong.push(`the script of ${id} does not match its integrity`);
      if (author === "agent" && (callId === null || isUnchecked))
        wrong.push(`the agent published ${id} by ${callId ?? "no call"}, unchecked: ${isUnchecked}`);
    }
    return [...wrong, ...findWrongEvents(rows), ...findWrongCalls(rows)];
  },
};

/** Finds releases without exactly one event, and events without a release. Skips releases of deleted sessions. */
function findWrongEvents({ publications, releases, events }: Evidence["rows"]): string[] {
  const announced = events
    .filter(({ kind }) => kind === "publication.created")
    .map(({ body }): string => JSON.parse(body).publication.release);
  const living = publications.filter(({ sessionId }) => sessionId !== null).map(({ id }) => id);
  const stored = releases.filter(({ publicationId }) => living.includes(publicationId)).map(({ id }) => id);
  return [...new Set([...announced, ...stored])].flatMap((id) => {
    const times = announced.filter((each) => each === id).length;
    return times === 1 && stored.includes(id) ? [] : [`release ${id} was announced ${times} times`];
  });
}

/** Finds calls of `publish_variant` that created several releases, and calls that succeeded without a release. */
function findWrongCalls({ toolCalls, publications, releases }: Evidence["rows"]): string[] {
  return toolCalls.flatMap(({ name, runId, callId, input, state }) => {
    if (name !== "publish_variant") return [];
    const created = releases.filter((release) => release.runId === runId && release.callId === callId);
    const variants = publications
      .filter(({ id }) => created.some(({ publicationId }) => publicationId === id))
      .map(({ variant }) => variant);
    if (created.length > 1) return [`${callId} created ${created.length} releases`];
    return state === "succeeded" && !variants.includes(readVariant(input) ?? "")
      ? [`${callId} succeeded, and its release is lost`]
      : [];
  });
}

/**
 * Finds acknowledged changes that were lost, scripts that are not served as they were published, and publications that
 * were lost with their session.
 */
export const publicationsServed: Invariant = {
  id: "publications",
  promise:
    "an acknowledged change is visible after a restart; what is published is served, also without its session",
  findViolations: ({ rows, publishing }) => [
    ...publishing.readings.flatMap((reading, index) => [
      ...findWrongScripts(reading),
      ...findLostChanges(publishing, reading),
      ...findLostPublications(publishing.readings.slice(0, index), reading),
    ]),
    ...findWrongDeletions(rows, publishing),
    ...findUnequalRows(rows, publishing.readings.at(-1)),
  ],
};

/**
 * Finds publications whose scripts are served wrongly. The URL without a release number and the URL of the current
 * release must serve the current release. If the variant is not published, the URL without a number must serve an empty
 * script, and the URLs of all releases must answer 410.
 */
function findWrongScripts({ publications, scripts }: PublicationReading): string[] {
  return publications.flatMap(({ id, publication }) => {
    const own = scripts.filter(({ publicationId }) => publicationId === id);
    const moving = own.find(({ pinned }) => pinned === null);
    if (publication) {
      const isServed = [moving, own.find(({ pinned }) => pinned === publication.number)].every(
        (script) => script?.status === 200 && script.integrity === publication.integrity,
      );
      return isServed ? [] : [`the served script of ${id} is not that of release ${publication.number}`];
    }
    const isEnded = own.every(({ pinned, status }) => status === (pinned === null ? 200 : 410));
    return isEnded && moving?.isEmpty ? [] : [`${id} is unpublished, and is still served`];
  });
}

type Publishing = Evidence["publishing"];

/**
 * Finds variants with a wrong current release. The last acknowledged change, or a later change without an answer, must
 * have set the current release.
 */
function findLostChanges({ changes, readings }: Publishing, reading: PublicationReading): string[] {
  const requested = changes.slice(0, reading.changeCount);
  return [...new Set(requested.map(({ variant }) => variant))].flatMap((variant) => {
    const own = requested.filter((change) => change.variant === variant);
    const last = own.findLastIndex(({ release }) => release !== undefined);
    const unanswered = own.slice(last + 1);
    const before = readings.find(({ changeCount }) => changeCount === 0) ?? reading;
    const acknowledged = own[last]?.release;
    const allowed = [
      acknowledged === undefined ? readRelease(before, variant) : acknowledged,
      ...unanswered.map((change) => findResult(change, reading)),
    ];
    const release = readRelease(reading, variant);
    return allowed.includes(release)
      ? []
      : [`${variant} is at release ${release} after changes that lead to ${allowed.join(" or ")}`];
  });
}

const readRelease = ({ publications }: PublicationReading, variant: string): number | null =>
  publications.find((each) => each.variant === variant)?.publication?.number ?? null;

/** Returns the number of the current release after a change; null if the change unpublishes the variant. */
function findResult(
  { variant, wanted }: PublicationChange,
  { publications, scripts }: PublicationReading,
): number | null {
  if (wanted === "unpublish") return null;
  if (wanted !== "publish") return wanted.rollback;
  const id = publications.find((each) => each.variant === variant)?.id;
  const own = scripts.filter(({ publicationId }) => publicationId === id);
  return Math.max(...own.map(({ pinned }) => pinned ?? 0));
}

const findLostPublications = (earlier: PublicationReading[], { publications }: PublicationReading) =>
  [...new Set(earlier.flatMap((reading) => reading.publications.map(({ id }) => id)))]
    .filter((id) => !publications.some((each) => each.id === id))
    .map((id) => `${id} was lost`);

/**
 * Finds deletions after which the session still exists or its publications are gone. Also finds deletions whose answer
 * did not name exactly the publications that are still published.
 */
function findWrongDeletions(rows: Evidence["rows"], { deletions, readings }: Publishing): string[] {
  return deletions.flatMap(({ sessionId, readingCount, publicationIds }) => {
    const wrong: string[] = [];
    const before = readings[readingCount - 1]?.publications ?? [];
    const own = before.filter((each) => each.sessionId === sessionId);
    const expected = own.filter(({ publication }) => publication).map(({ id }) => id);
    if (publicationIds && publicationIds.toSorted().join() !== expected.toSorted().join())
      wrong.push(`the deletion of ${sessionId} named ${publicationIds.join() || "no publication"}`);
    if (rows.sessions.some(({ id }) => id === sessionId)) wrong.push(`${sessionId} was not deleted`);
    for (const { id } of own)
      if (rows.publications.find((each) => each.id === id)?.sessionId !== null)
        wrong.push(`${id} was deleted with its session`);
    return wrong;
  });
}

/** Finds differences between the database rows and the last reading of the API and of the script URLs. */
function findUnequalRows(
  { publications, releases }: Evidence["rows"],
  last: PublicationReading | undefined,
): string[] {
  const wrong = publications.flatMap(({ id, sessionId, release }) => {
    const shown = last?.publications.find((each) => each.id === id);
    const isEqual = shown?.sessionId === sessionId && (shown.publication?.number ?? null) === release;
    return isEqual ? [] : [`${id} is at release ${release}, and the interface says otherwise`];
  });
  for (const { publicationId, number, integrity, withdrawnAt } of releases) {
    const script = last?.scripts.find(
      (each) => each.publicationId === publicationId && each.pinned === number,
    );
    const isServed = script?.status === 200 && script.integrity === integrity;
    if (withdrawnAt === null ? !isServed : script?.status !== 410)
      wrong.push(`release ${number} of ${publicationId} was answered with ${script?.status}`);
  }
  return wrong;
}
