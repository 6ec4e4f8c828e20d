/** Maximum stored bytes of one session, and of all sessions of one owner. 0 means no limit. */
export type ByteLimits = { session: number; owner: number };

/** `total`: the number of stored bytes after an addition. `added`: how many of these bytes the addition adds. */
export type ByteUsage = { total: number; added: number };

const MEBIBYTE = 1_048_576;

/** Formats a size in MiB with one decimal. */
export const mebibytes = (bytes: number): string => `${(bytes / MEBIBYTE).toFixed(1)} MiB`;

/**
 * Describes the limit that an addition would exceed; undefined if the addition may be stored. An addition of 0 bytes is
 * always allowed.
 *
 * @param what the kind of content, such as `the landing pages`
 * @param setting prefix of the names of the limit settings, such as `PAGES` for `PAGES_SESSION_MIB`
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
