import type { Finding } from "../check-report.ts";
import type { PageLoad } from "../load/open-load.ts";
import { makeFinding } from "../make-finding.ts";

/**
 * Adds to findings about changes behind an interaction which step would open them.
 *
 * @param seen selectors of the controls that showed a change when they were operated, by change id. For other changes,
 * the attributes of the page's controls may say it.
 */
export async function proposeOpening(
  load: PageLoad,
  findings: Finding[],
  seen: Record<string, string>,
): Promise<Finding[]> {
  const ids = findings.flatMap(({ code, changeId }) =>
    code === "not_examined" && changeId ? [changeId] : [],
  );
  if (ids.length === 0) return findings;
  const openers = { ...(await load.look("findOpeners", ids)), ...seen };
  return findings.map((finding) => {
    const click = finding.code === "not_examined" && finding.changeId && openers[finding.changeId];
    if (!click) return finding;
    const pages = JSON.stringify([{ url: finding.url, open: [{ click }] }]);
    const message = `${finding.message} A click seems to open it: check again with pages: ${pages}.`;
    return makeFinding(finding, finding.level, finding.code, finding.changeId, message);
  });
}
