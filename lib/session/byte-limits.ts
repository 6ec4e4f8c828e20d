/** The most bytes of a kind that one session, and all sessions of one owner, may have stored. 0 is no limit. */
export type ByteLimits = { session: number; owner: number };

/** Bytes that are stored once something is added, and how many of them it adds. */
export type ByteUsage = { total: number; added: number };

const MEBIBYTE = 1_048_576;

/** A size in MiB, with one decimal. */
export const mebibytes = (bytes: number): string => `${(bytes / MEBIBYTE).toFixed(1)} MiB`;

/**
 * Names the limit that an addition would exceed; undefined if it may be stored. What adds no bytes always may.
 *
 * @param what the kind of things, such as `the landing pages`
 * @param setting the beginning of the names of their settings, such as `PAGES`
 */
export function describeExcess(
  what: string,
  setting: string,
  usage: { session: ByteUsage; owner: ByteUsage },
  limits: ByteLimits,
): string | undefined {
  const exceeds = ({ total, added }: ByteUsage, max: number) => max > 0 && added > 0 && total > max;
  if (exceeds(usage.session, limits.session))
    return `${what} of the session would have ${mebibytes(usage.session.total)}; a session may have ${mebibytes(limits.session)} (${setting}_SESSION_MIB)`;
  if (exceeds(usage.owner, limits.owner))
    return `${what} of the session's owner would have ${mebibytes(usage.owner.total)}; an owner may have ${mebibytes(limits.owner)} (${setting}_OWNER_MIB)`;
  return undefined;
}
