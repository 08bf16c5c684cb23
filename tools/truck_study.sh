#!/bin/sh
# usage: truck_study.sh DAEDALUS DOCS
# Table 5.3 of the MEXX report (its own data are lost, ours stand in) and the sizes of the steps on the Fourier road:
# DOCS/truck-study.md and DOCS/images/truck-steps.svg.
set -eu
daedalus=$1 docs=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

number() { tr ',{}' '\n\n\n' <"$work/run.json" | sed -n "s/^ *\"$1\": *//p" | head -n 1; }
run() { "$daedalus" run truck --set road="$1" --solver "$2" --rtol "$3" --atol "$3" --opt linear_algebra="$4" --json >"$work/run.json"; }

{
    echo "# Truck: table 5.3 of the report, and the steps"
    echo
    echo "Made by \`make truck-study\`. Planar truck on a sine road (0 … 10 s) and on a Fourier sum that ends at 10 s (0 … 15 s), the"
    echo "experiment of section 5.3 of the MEXX report with [other data](problems/truck.md) than there, so the growth with the tolerance can be"
    echo "compared and the figures cannot. Counts as in the report: accepted steps, evaluations of M, G, gᴵ, linear solves. Digits: of the"
    echo "end values, against the reference. Times depend on the machine."
    for road in sine fourier; do
        echo
        echo "## Road: $road"
        echo
        echo "| tolerance | solver | linear algebra | nstep | nfcn | nsol | digits | CPU ms |"
        echo "| --- | --- | --- | ---: | ---: | ---: | ---: | ---: |"
        for solver in mexx phem56; do
            for tol in 1e-3 1e-5 1e-7 1e-9 1e-11; do
                for mode in dense_lu sparse_lu; do
                    run $road $solver $tol $mode
                    printf '| %s | %s | %s | %s | %s | %s | %.1f | %.1f |\n' $tol $solver $mode "$(number nstep)" "$(number nfcn)" \
                        "$(number nsol)" "$(number mescd)" "$(number cpu_seconds | awk '{ print 1000 * $1 }')"
                done
            done
        done
    done
    echo
    echo "## Explicit extrapolation against stiff codes"
    echo
    echo "Section 5.3 sets MEXX against EULSIM, the linearly implicit extrapolation code, on the reduced truck (minimal coordinates, an ODE). Here"
    echo "seulex, the method of that class, with radau5 and dassl on the same: \`--formulation statespace\`; mexx and phem56 on the descriptor form."
    for road in sine fourier; do
        echo
        echo "Road: $road"
        echo
        echo "| tolerance | solver | accepted | f | Jacobians | LU | digits | CPU ms |"
        echo "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
        for tol in 1e-3 1e-5 1e-7; do
            for solver in mexx phem56 seulex radau5 dassl; do
                form=statespace
                case $solver in mexx | phem56) form=descriptor ;; esac
                "$daedalus" run truck --set road=$road --solver $solver --formulation $form --rtol $tol --atol $tol --repeat 3 --json >"$work/run.json" || continue
                printf '| %s | %s | %s | %s | %s | %s | %.1f | %.1f |\n' $tol $solver "$(number accepted)" "$(number f)" "$(number jac)" \
                    "$(number lu)" "$(number mescd)" "$(number cpu_seconds | awk '{ print 1000 * $1 }')"
            done
        done
    done
    cat <<'TEXT'

![work against digits on the sine road](images/truck-methods.svg)

Where which wins: the truck is only mildly stiff, so that the half-explicit methods need the least time for the same digits (phem56 at all
three tolerances, mexx second or third); the stiff codes take fewer and longer steps, but each needs Jacobians of the whole mechanism.
Of them dassl is nearest, since it keeps its Jacobians longest. They gain in the quiet phase (below), which is too short here to pay.

nfcn of mexx grows by about two from 1e-3 to 1e-5 and to 1e-7, and by a half to 1e-9, while the number of steps hardly changes: it
is the order that rises. At 1e-11 rounding shows where the truck comes to rest (velocities are asked for 1e-14 there), and steps are refused for it. phem56, of
order 5, needs steps shorter by 10^(2/5) for every two digits once accuracy and not stability decides.

## The quiet phase

![sizes of the accepted steps](images/truck-steps.svg)

Road: fourier, tolerance 1e-5. From 10.3 s on both axles are on even ground and the motion dies out, yet the steps of the explicit methods do
not grow with it: they level off at 0.015 s, where the fastest damped mode (eigenvalue −196 1/s) makes larger ones unstable. The implicit
radau5 takes steps three times as long there. That is the mild stiffness that the report describes.
TEXT
} >"$work/page.md"

for solver in mexx phem56 radau5; do
    "$daedalus" run truck --set road=fourier --solver $solver --rtol 1e-5 --atol 1e-5 --log step 2>&1 |
        sed -n 's/^step t=\([^ ]*\) h=\([^ ]*\) order=.*/\1 \2/p' >"$work/$solver"
done
gnuplot <<PLOT
set terminal svg size 720,380 font "sans,12" background "white"
set output "$work/steps.svg"
set xlabel "t / s"
set ylabel "size of the step / s"
set logscale y
set format y "10^{%L}"
set xrange [0:15]
set yrange [2e-4:0.4]
set key top left horizontal
set grid ytics lc rgb "#dddddd"
set object 1 rectangle from 10.3, graph 0 to 15, graph 1 behind fc rgb "#f2f2ea" fs solid noborder
set label 1 "road even" at 12.65, 3e-4 center tc rgb "#666666"
plot "$work/radau5" using 1:2 with lines lc rgb "#999999" title "radau5", \
     "$work/mexx" using 1:2 with lines lc rgb "#c0504d" title "mexx", \
     "$work/phem56" using 1:2 with lines lc rgb "#1f77b4" title "phem56"
PLOT
"$daedalus" workprec truck --set road=sine --solvers mexx,phem56,seulex/statespace,radau5/statespace,dassl/statespace --range 3:8:1 --repeat 3 \
    --plot "$docs/images/truck-methods.svg" --quiet
mv "$work/page.md" "$docs/truck-study.md"
mv "$work/steps.svg" "$docs/images/truck-steps.svg"
