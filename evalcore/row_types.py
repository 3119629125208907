"""The row types of evalcore that `ngramscan report` knows, in the order of a page."""

ROW_TYPES = (
    "evalcore.commands.show.ShowRow",
    "evalcore.scores.ScoreRow",
    "evalcore.compare_rows.CompareRow",
    "evalcore.commands.rank.RankedRow",
    "evalcore.compare_rows.AverageRow",
    "evalcore.commands.plan.PlanRow",
    "evalcore.commands.plan.PowerCurveRow",
    "evalcore.outcomes_rows.OutcomeRow",
    "evalcore.outcomes_rows.AnswersRow",
    "evalcore.outcomes_rows.WinRow",
    "evalcore.efficiency_rows.EfficiencyRow",
    "evalcore.judge_sample.LabelShareRow",
    "evalcore.commands.agreement.VoteRow",
    "evalcore.commands.agreement.AgreementRow",
    "evalcore.commands.link.LinkRow",
    "evalcore.prevalence_links.SlopeRow",
    "evalcore.commands.link.RankRow",
)
