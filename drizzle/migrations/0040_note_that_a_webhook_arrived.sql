ALTER TABLE "workspaces" ADD COLUMN "webhook_delivered_at" timestamp (3) with time zone;--> statement-breakpoint
UPDATE "workspaces" w SET "webhook_delivered_at" = d."at" FROM (
  SELECT "workspace_id", min("at") AS "at" FROM "counts" WHERE "delivered" > 0 GROUP BY "workspace_id"
) d WHERE d."workspace_id" = w."id";
