import type { JobSender } from "./job-sender.ts";

/** A job sender that neither sends nor plays jobs. */
export const silentJobs: JobSender = {
  sendSoon: () => {},
  plan: () => undefined,
  begin: () => {},
  beginEarly: () => {},
  sweep: async () => 0,
  prune: async () => {},
};
