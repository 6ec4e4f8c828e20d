/**
 * How many sub-agents, and how many browsers of sub-agents, a session may have at the same time. Source: specification,
 * Rules for profile fields, 5 to 8.
 */
export type DelegationCaps = { maxLiveChildren: number; maxLiveBrowsers: number };

type RequestedCaps =
  | { maxLiveChildren?: number | undefined; maxLiveBrowsers?: number | undefined }
  | undefined;

type DelegationResult = { ok: true; caps: DelegationCaps } | { ok: false; error: string };

/**
 * Resolves the caps of a new session, or explains why the requested caps are not allowed. An omitted `maxLiveBrowsers`
 * becomes the smaller of the deployment's value and `maxLiveChildren`. Source: `wire.md`, POST /api/session.
 */
export function resolveDelegation(requested: RequestedCaps, deployment: DelegationCaps): DelegationResult {
  const children = requested?.maxLiveChildren ?? deployment.maxLiveChildren;
  const browsers = requested?.maxLiveBrowsers;
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

/** Returns the caps that apply now: the session's own caps, but at most the deployment's current caps. */
export const limitDelegation = (sessionCaps: DelegationCaps, deployment: DelegationCaps): DelegationCaps => {
  const maxLiveChildren = Math.min(sessionCaps.maxLiveChildren, deployment.maxLiveChildren);
  return {
    maxLiveChildren,
    maxLiveBrowsers: Math.min(sessionCaps.maxLiveBrowsers, deployment.maxLiveBrowsers, maxLiveChildren),
  };
};

const refuse = (error: string): DelegationResult => ({ ok: false, error });
