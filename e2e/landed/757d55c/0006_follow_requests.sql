CREATE TABLE "sealed_canary" (
	"id" text PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL
);
--> statement-breakpoint
ALTER TABLE "audit_log" ADD COLUMN "client_address" text;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "last_request_id" text;--> statement-breakpoint
ALTER TABLE "files" ADD COLUMN "last_traceparent" text;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "request_id" text;--> statement-breakpoint
ALTER TABLE "events" ADD COLUMN "traceparent" text;