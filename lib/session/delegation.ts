/** The caps under which a session's sub-agents run. Source: specification, Rules for profile fields, 5 to 8. */
export type DelegationCaps = { maxLiveChildren: number; maxLiveBrowsers: number };

type Asked = { maxLiveChildren?: number | undefined; maxLiveBrowsers?: number | undefined } | undefined;

type DelegationResult = { ok: true; caps: DelegationCaps } | { ok: false; error: string };

/**
 * The caps to fix for a new session, or the sentence that says why what was asked cannot be had.
 * An omitted `maxLiveBrowsers` is the smaller of the deployment's value and the children cap. Source: `wire.md`, POST /api/session.
 */
export function resolveDelegation(asked: Asked, deployment: DelegationCaps): DelegationResult {
  const children = asked?.maxLiveChildren ?? deployment.maxLiveChildren;
  const browsers = asked?.maxLiveBrowsers;
  if (children > deployment.maxLiveChildren)
    return refuse(
      `delegation.maxLiveChildren: ${children} exceeds the deployment ceiling DELEGATION_MAX_LIVE_CHILDREN=${deployment.maxLiveChildren}`,
    );
  if (browsers !== undefined && browsers > deployment.maxLiveBrowsers)
    return refuse(
      `delegation.maxLiveBrowsers: ${browsers} exceeds the deployment ceiling DELEGATION_MAX_LIVE_BROWSERS=${deployment.maxLiveBrowsers}`,
    );
  if (browsers !== undefined && browsers > children)
    return refuse(`delegation.maxLiveBrowsers (${browsers}) must be <= maxLiveChildren (${children})`);
  return {
    ok: true,
    caps: {
      maxLiveChildren: children,
      maxLiveBrowsers: browsers ?? Math.min(deployment.maxLiveBrowsers, children),
    },
  };
}

/** The caps in force: what was fixed, or the deployment's ceiling where that is lower by now. */
export const limitDelegation = (fixed: DelegationCaps, deployment: DelegationCaps): DelegationCaps => {
  const maxLiveChildren = Math.min(fixed.maxLiveChildren, deployment.maxLiveChildren);
  return {
    maxLiveChildren,
    maxLiveBrowsers: Math.min(fixed.maxLiveBrowsers, deployment.maxLiveBrowsers, maxLiveChildren),
  };
};

const refuse = (error: string): DelegationResult => ({ ok: false, error });
