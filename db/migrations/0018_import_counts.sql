ALTER TABLE "imports" ADD COLUMN "plan_item_count" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "imports" ADD COLUMN "requirement_count" integer DEFAULT 0 NOT NULL;