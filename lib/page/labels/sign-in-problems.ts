/**
 * Why a sign-in failed:
 * - `expired`: the login link was used before or has expired, or the service was restarted.
 * - `failed`: the identity provider did not confirm the sign-in.
 * - `refused`: the account may not sign in.
 */
export const SIGN_IN_PROBLEMS = ["expired", "failed", "refused"] as const;

export type SignInProblem = (typeof SIGN_IN_PROBLEMS)[number];
