ALTER TABLE "browser_hosts" ADD COLUMN "relay_url" text;--> statement-breakpoint
ALTER TABLE "browsers" ADD COLUMN "waiting_since" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "browsers_waiting" ON "browsers" USING btree ("waiting_since") WHERE waiting_since is not null;