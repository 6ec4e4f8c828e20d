ALTER TABLE "deliveries" DROP CONSTRAINT "deliveries_state";--> statement-breakpoint
ALTER TABLE "failing_endpoints" ADD COLUMN "probe_id" text;--> statement-breakpoint
ALTER TABLE "failing_endpoints" ADD COLUMN "probed_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "lifetime_ms" bigint;--> statement-breakpoint
ALTER TABLE "api_keys" ADD COLUMN "successor_id" text;--> statement-breakpoint
UPDATE "api_keys" SET "lifetime_ms" = extract(epoch from "expires_at" - "created_at") * 1000 WHERE "expires_at" IS NOT NULL;--> statement-breakpoint
CREATE INDEX "deliveries_held" ON "deliveries" USING btree ("created_at","id") WHERE state = 'held';--> statement-breakpoint
ALTER TABLE "deliveries" ADD CONSTRAINT "deliveries_state" CHECK ("deliveries"."state" in ('pending', 'sending', 'held', 'delivered', 'dropped'));