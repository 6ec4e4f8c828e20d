ALTER TABLE "tool_calls" ADD COLUMN "refusal" text;--> statement-breakpoint
ALTER TABLE "tool_calls" ADD CONSTRAINT "tool_calls_refusal" CHECK ("tool_calls"."refusal" in ('plan_first'));