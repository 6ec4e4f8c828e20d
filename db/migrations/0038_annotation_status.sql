ALTER TABLE "annotations" ADD COLUMN "status" text DEFAULT 'open' NOT NULL;--> statement-breakpoint
ALTER TABLE "annotations" ADD COLUMN "resolution" text;--> statement-breakpoint
ALTER TABLE "annotations" ADD COLUMN "resolved_by" text;--> statement-breakpoint
ALTER TABLE "annotations" ADD COLUMN "sent_request_id" text;--> statement-breakpoint
ALTER TABLE "annotations" ADD CONSTRAINT "annotations_status" CHECK ("annotations"."status" in ('open', 'sent', 'resolved', 'lost'));