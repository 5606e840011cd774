CREATE TABLE "acme_accounts" (
	"directory" text PRIMARY KEY NOT NULL,
	"sealed" text NOT NULL,
	"free_at" timestamp (3) with time zone NOT NULL
);
--> statement-breakpoint
ALTER TABLE "link_hosts" ADD COLUMN "certificate" text;--> statement-breakpoint
ALTER TABLE "link_hosts" ADD COLUMN "certificate_key" text;--> statement-breakpoint
ALTER TABLE "link_hosts" ADD COLUMN "certificate_due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "link_hosts" ADD COLUMN "certificate_failures" integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "link_hosts" ADD COLUMN "certificate_fault" text;--> statement-breakpoint
ALTER TABLE "link_hosts" ADD COLUMN "challenge" text;