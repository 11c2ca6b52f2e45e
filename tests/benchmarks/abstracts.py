"""Abstracts of about 1,200 characters for the benchmarks, written for them: of several fields, dense and sparse."""

from __future__ import annotations

from typing import Final

#: By what each is about. The first is full of terms of economics and finance, the last two have hardly any.
ABSTRACTS: Final = {
    "capital structure": (
        "We study how firms adjust their capital structure when the cost of external finance rises. Using "
        "panel data on manufacturing plants and a matched sample of lenders, we document that leverage falls "
        "by a third of a standard deviation within two years of a tightening in credit supply. The response "
        "is concentrated among firms with short maturities and few tangible assets, and it is larger where "
        "relationship lending is thin. A model with a collateral constraint and costly equity issuance "
        "reproduces these facts and implies that a tenth of the decline in aggregate investment is due to the "
        "reallocation of capital between constrained and unconstrained firms. Event windows around rating "
        "changes confirm that bond spreads react before loan terms do. We discuss what this means for the "
        "design of macroprudential policy, and show that a countercyclical buffer would have halved the loss. "
        "The results hold when we exclude the smallest firms, use alternative measures of distance to "
        "default, or instrument credit supply with the exposure of lenders to distant housing markets. They "
        "do not depend on the choice of the sample period either, nor on how we treat firms that leave the "
        "sample."
    ),
    "announcement returns": (
        "Do investors read the notes to financial statements, and if so, how fast? We collect the exact times "
        "at which 41,000 annual reports became public over two decades and relate the words of their "
        "footnotes to stock returns in the minutes, days and months that follow. Firms whose notes grow more "
        "vague than those of their peers earn abnormal returns of minus two percent over the next quarter, "
        "and nothing of it shows in the hours after the filing. The drift is stronger where few analysts "
        "follow the firm and where institutional ownership is low, and it vanishes after the regulator began "
        "to publish machine-readable tables. A simple long-short portfolio would have earned an alpha of four "
        "percent a year before costs. We rule out that the effect is a premium for risk: the loadings on the "
        "usual factors do not move, and the losses arrive on the days of later earnings announcements. We "
        "conclude that what is public is not yet known, and that the price of attention can be read from the "
        "speed with which plain words reach prices. The findings bear on how disclosure rules should weigh "
        "length against clarity when a regulator asks firms to say more."
    ),
    "minimum wage": (
        "We ask what a higher wage floor does to the careers of young workers in rural districts, where one "
        "employer often hires most of a town. Linking tax records to the register of schools, we follow "
        "190,000 people from their last year at school to the age of thirty. The reform reached some "
        "districts three years before others, and a comparison of neighbours across the border between them "
        "shows no loss of jobs in the first two years. Earnings rise by six percent, and more at the bottom "
        "of the distribution. What changes is who is hired: employers turn to older applicants, and those "
        "who leave school without a certificate move to the city earlier than their elder siblings did. "
        "Where one employer dominates, employment even grows, as a model with wage-setting power predicts. "
        "We use the estimates to calibrate such a model and find that the floor could rise by another tenth "
        "before employment would fall. Welfare gains are small for most families and large for a few. The "
        "lesson for policy is that the same floor has different effects in thick and in thin labor markets, "
        "and that averages over a country hide most of what matters to those who live far from its cities."
    ),
    "school meals": (
        "Free lunches at school may change what children eat at home. We evaluate a reform that gave a warm "
        "meal to every pupil of 212 primary schools, in three waves over four years, with a staggered "
        "difference-in-differences design. Weights, heights and a diary of meals were taken twice a year by "
        "school nurses who did not know which wave a school belonged to. After two years the prevalence of "
        "obesity had fallen by 1.4 percentage points, and the share of children who skip breakfast was "
        "unchanged. The effect was greatest among girls and in families in which both parents work shifts. "
        "We found no sign that meals at home became smaller or less varied. Absence because of illness fell "
        "by half a day a year. Interviews with cooks and head teachers point to the role of training and of "
        "eating together, and to the burden that cleaning puts on small schools. The programme cost less "
        "per child than the screening which it replaced. We discuss how far the findings carry over to "
        "regions with other diets, and what a trial with random allocation of schools would need to look "
        "like. Public-health authorities that plan such a scheme should begin with the smallest schools and "
        "should measure for longer than we were able to."
    ),
    "stars": (
        "Open clusters lose stars to the tides of their galaxy, and the rate at which they do is a test of how "
        "mass is spread in the disc. We combine proper motions from a space mission with radial velocities "
        "for 1,310 members of a nearby cluster and search for its tails with a method that follows the orbits "
        "of candidate members backwards in time. Two tails are found, each longer than three hundred parsecs, "
        "and they are not alike: the leading one holds a third more stars. Simulations with a smooth disc do "
        "not give that difference. With massive clouds of gas along the path they do, in one run out of nine. "
        "We derive the rate of mass loss, eleven solar masses in a million years, and the time that is left "
        "before the cluster dissolves, which is shorter than its present age. Binary stars are rarer in the "
        "tails than in the core, as one expects when the light ones leave first. The catalogue of members "
        "with their probabilities is published with this article. Deeper spectra of the faint end of the "
        "trailing tail would tell whether the imbalance is one of numbers or of mass, and so whether the disc "
        "or the cluster itself is to be blamed."
    ),
    "nurses": (
        "This ethnography follows the nurses of two emergency wards through the first year of a new system "
        "for handing patients over. We spent 640 hours on the wards, at all times of the day, and held 58 "
        "interviews with nurses, porters and relatives. What was meant to be a form became a conversation, "
        "and later a quarrel over who has the right to speak for a patient who cannot. Nurses of long "
        "standing kept the old habit of walking from bed to bed and filled in the form afterwards; younger "
        "ones used it as a shield against blame. We describe three ways of writing, which we call telling, "
        "covering and waiting, and show how each of them changes what the next shift sees. Trust between "
        "the two shifts grew where they met in person, however shortly, and shrank where the screen stood "
        "between them. The study adds to the literature on work in hospitals a view of paperwork as a place "
        "in which care is given, not only recorded. For those who design such systems it suggests leaving "
        "room for what cannot be ticked. We close with reflections on our own presence on the wards, which "
        "was at first a nuisance, then a comfort, and at last hardly noticed by anybody."
    ),
}
