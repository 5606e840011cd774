-- Nobody has asked to be sent those that are there. Of those that are open, the end may be asked for.
ALTER TABLE "alerts" ADD COLUMN "sent" text DEFAULT 'cleared' NOT NULL;--> statement-breakpoint
ALTER TABLE "alerts" ALTER COLUMN "sent" SET DEFAULT 'nothing';--> statement-breakpoint
UPDATE "alerts" SET "sent" = 'raised' WHERE "cleared_at" IS NULL;
