ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_run_event";--> statement-breakpoint
ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_event";--> statement-breakpoint
ALTER TABLE "deliveries" ADD COLUMN "item_id" text;--> statement-breakpoint
ALTER TABLE "inbox_items" ADD COLUMN "last_event" text;--> statement-breakpoint
CREATE INDEX "inbox_items_run_waiting" ON "inbox_items" USING btree ("run_id") WHERE last_event = 'run.waiting';--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_run_event" UNIQUE NULLS NOT DISTINCT("run_id","event","item_id");--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_event" CHECK ("deliveries"."event" in ('run.started', 'run.completed', 'run.waiting', 'run.resumed'));--> statement-breakpoint
ALTER TABLE "inbox_items" ADD CONSTRAINT "inbox_items_last_event" CHECK ("inbox_items"."last_event" in ('run.waiting', 'run.resumed'));