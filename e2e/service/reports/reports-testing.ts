import { publishReport } from "#lib/reports/publish-report.ts";
import type { Report, ReportInput } from "#lib/reports/report.ts";
import { readTestedVariants } from "#lib/variant/read-tested-variants.ts";
import type { TestService } from "../testing.ts";
import { step } from "../variants/variants-testing.ts";

/** Creates a step of the scripted model that publishes a report. */
export const publish = (report: Record<string, unknown>) => step("publish_qa_report", report);

/** A report with one finding. */
export const REPORT = {
  title: "Checkout audit",
  summary: "The checkout works, **mostly**.",
  findings: [
    {
      severity: "serious",
      title: "The Pay button has no name",
      detail: "Screen readers announce `button`.",
      url: "https://shop.example/checkout",
      selector: "#pay",
      steps: ["Open the checkout.", "Tab to the button."],
    },
  ],
} satisfies ReportInput;

/** Stores a report with evidence in a session. @returns the report's id. */
export async function storeReport(service: TestService, sessionId: string): Promise<string> {
  const evidenceIds = [await savePicture(service, sessionId)];
  const findings = REPORT.findings.map((finding) => ({ ...finding, evidenceIds }));
  const published = await publishReport(
    { ...service.container.services, readTestedVariants },
    { sessionId, requestId: null, runId: null, callId: null, report: { ...REPORT, findings } },
  );
  if (!published.ok) throw new Error(published.problem);
  return published.report.id;
}

/** Reads a report with the API. */
export const readReport = async (service: TestService, sessionId: string, id: string) =>
  (await service.read<{ report: Report }>(`/api/sessions/${sessionId}/reports/${id}`)).report;

/** Lists the reports of a session with the API. */
export const listReports = async (service: TestService, sessionId: string) =>
  (await service.read<{ data: Report[] }>(`/api/sessions/${sessionId}/reports`)).data;

/** Reads the events of a session from its log. */
export const readEvents = async (service: TestService, sessionId: string) =>
  (await service.container.services.log.read(sessionId, { after: 0, limit: 500 })).map(({ body }) =>
    JSON.parse(body),
  );

/** Saves a picture as evidence of a session. @returns the id of the evidence. */
export async function savePicture(service: TestService, sessionId: string, title = "A picture") {
  const { id } = await service.container.services.evidence.save({
    sessionId,
    runId: null,
    kind: "screenshot",
    title,
    url: "https://shop.example/checkout",
    mediaType: "image/png",
    bytes: PIXEL,
  });
  return id;
}

/** A PNG of one pixel. */
const PIXEL = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);
