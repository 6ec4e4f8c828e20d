DROP INDEX "sessions_owner_recent";--> statement-breakpoint
DROP INDEX "share_tokens_session";--> statement-breakpoint
CREATE INDEX "sessions_owner_recent" ON "sessions" USING btree ("owner_id","created_at","id") WHERE parent_session_id is null;--> statement-breakpoint
CREATE INDEX "share_tokens_session" ON "share_tokens" USING btree ("session_id","created_at","id");