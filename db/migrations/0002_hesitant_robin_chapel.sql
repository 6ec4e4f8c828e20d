DROP INDEX "share_tokens_session";--> statement-breakpoint
ALTER TABLE "share_tokens" ADD COLUMN "id" text NOT NULL;--> statement-breakpoint
ALTER TABLE "share_tokens" ADD COLUMN "label" text;--> statement-breakpoint
CREATE INDEX "share_tokens_session" ON "share_tokens" USING btree ("session_id","created_at" DESC NULLS LAST,"id");--> statement-breakpoint
ALTER TABLE "share_tokens" ADD CONSTRAINT "share_tokens_id_unique" UNIQUE("id");