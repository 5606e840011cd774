-- contract: the trigger kept leases from nodes before 23 November 2026, which took encrypted tails for plain bytes. Those of commit
-- 757d55c and after need it no more: all of them can decrypt.
DROP TRIGGER "sealed_tails_need_their_release" ON "files";--> statement-breakpoint
DROP FUNCTION "keep_lease"();
