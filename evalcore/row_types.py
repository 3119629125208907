"""The row types of evalcore that `ngramscan report` knows, in the order of a page."""

ROW_TYPES = (
    "evalcore.commands.show.ShowRow",
    "evalcore.scores.ScoreRow",
    "evalcore.commands.compare.CompareRow",
    "evalcore.commands.rank.RankedRow",
    "evalcore.commands.compare.AverageRow",
    "evalcore.commands.plan.PlanRow",
    "evalcore.commands.plan.PowerCurveRow",
    "evalcore.commands.outcomes.OutcomeRow",
    "evalcore.commands.outcomes.AnswersRow",
    "evalcore.commands.outcomes.WinRow",
    "evalcore.commands.efficiency.EfficiencyRow",
    "evalcore.judge_sample.LabelShareRow",
    "evalcore.commands.agreement.VoteRow",
    "evalcore.commands.agreement.AgreementRow",
    "evalcore.commands.link.LinkRow",
    "evalcore.prevalence_links.SlopeRow",
    "evalcore.commands.link.RankRow",
)
